"""Pictures as they are seen: where their texts are, and whether these can be read."""

from matplotlib.backends.backend_agg import FigureCanvasAgg


def boxes(ax):
    """Return where all texts are, on the drawn figure: what is seen, and its corners."""
    figure = ax.figure
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()  # all is put in its place; pixels take half the time of that
    legend = ax.get_legend()
    legends = [] if legend is None else legend.get_texts()
    texts = [*ax.texts, *legends]
    if ax.axison:
        for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            ticks = axis.get_major_ticks()
            shown = [t for t in ticks if min(low, high) <= t.get_loc() <= max(low, high)]
            texts += [axis.label, *(label for t in shown for label in (t.label1, t.label2))]
    return {
        (i, text.get_text()): text.get_window_extent(renderer)
        for i, text in enumerate(texts)
        if text.get_text() and text.get_visible()
    }


def assert_inside(ax):
    found = boxes(ax)
    assert found
    width, height = ax.figure.canvas.get_width_height()
    for (_, text), box in found.items():
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1
        assert inside, f"{text!r} is cut off"
        assert box.height >= 8, f"{text!r} is too small to read"
    return found


def assert_readable(ax):
    items = list(assert_inside(ax).items())
    for place, ((_, text), box) in enumerate(items):
        for (_, other), another in items[place + 1 :]:
            apart = (
                box.x1 <= another.x0 + 1
                or another.x1 <= box.x0 + 1
                or box.y1 <= another.y0 + 1
                or another.y1 <= box.y0 + 1
            )
            assert apart, f"{text!r} and {other!r} overlap"
    return dict(items)
