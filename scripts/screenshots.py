"""Take pictures of reports in headless Chromium, light and dark; needs Debian's chromium.

Run:  python scripts/screenshots.py [--folder docs/figures]
"""

from experiments.screenshots import main

if __name__ == "__main__":
    main()
