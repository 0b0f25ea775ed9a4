"""Few instances with many seeds: what the gate and P(best) say."""
