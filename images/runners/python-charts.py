"""What figures and tables of a kept interpreter are in numbers, beside their pictures.

The interpreter runs this text when it first shows such a value; matplotlib or pandas is loaded by then.
Works with Python 3.8, matplotlib 3.3 and pandas 1.1, and later.
"""

import datetime
import json
import math
import re
import sys

# Of one figure, or of one table; more are left out as a whole, as half of them would be other data.
max_values = 20000
max_names = 500
max_text = 1000


class TooMuch(Exception):
    pass


class Values:
    """Makes the program's values plain, and counts them."""

    def __init__(self):
        self.left = max_values

    def plain(self, value):
        self.left -= 1
        if self.left < 0:
            raise TooMuch()
        if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
            value = value.item()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            # JavaScript's whole numbers end here.
            return int(value) if abs(value) < 2**53 else str(value)[:max_text]
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        if isinstance(value, (datetime.date, datetime.time)):
            return None if value != value else value.isoformat()
        # Of pandas, for what is missing.
        if type(value).__name__ in ("NAType", "NaTType"):
            return None
        return str(value)[:max_text]

    def rounded(self, value):
        value = self.plain(value)
        return float("%.10g" % value) if isinstance(value, float) else value


def text_of(value):
    return str(value)[:max_text] or None


def unit_of(label):
    found = re.search(r"[(\[]([^()\[\]]+)[)\]]\s*$", label or "")
    return found.group(1).strip() if found else None


def converter_of(axis):
    return axis.get_converter() if hasattr(axis, "get_converter") else getattr(axis, "converter", None)


def is_date(axis):
    converter = type(converter_of(axis))
    return any(each.__module__ == "matplotlib.dates" for each in converter.__mro__)


def is_categorical(axis):
    return type(converter_of(axis)).__module__ == "matplotlib.category"


def places(values, axis, numbers):
    """Where things are on an axis, in the axis' own terms."""
    if is_date(axis):
        from matplotlib.dates import num2date

        return [values.plain(num2date(number)) for number in numbers]
    if is_categorical(axis):
        names = {number: name for name, number in getattr(axis.units, "_mapping", {}).items()}
        return [values.plain(names.get(number, number)) for number in numbers]
    return [values.plain(number) for number in numbers]


def ticks(values, axes, name):
    axis = getattr(axes, name + "axis")
    scale = getattr(axes, "get_%sscale" % name)()
    numbers = [values.plain(number) for number in axis.get_majorticklocs()]
    if is_date(axis):
        scale, numbers = "datetime", places(values, axis, numbers)
    elif is_categorical(axis):
        scale = "categorical"
    return {
        name + "_ticks": numbers,
        name + "_tick_labels": [values.plain(label.get_text()) for label in axis.get_majorticklabels()],
        name + "_scale": scale,
    }


def labels(axes):
    found = {}
    for name in ("x", "y"):
        label = text_of(getattr(axes, "get_%slabel" % name)())
        found[name + "_label"] = label
        found[name + "_unit"] = unit_of(label)
    return found


def points(values, axes, rows):
    columns = [list(column) for column in zip(*rows)]
    if not columns:
        return []
    across, up = places(values, axes.xaxis, columns[0]), places(values, axes.yaxis, columns[1])
    return [list(point) for point in zip(across, up)]


def named(artist, kind, number):
    label = str(artist.get_label())
    return "%s %d" % (kind, number) if label == "" or label.startswith("_") else label[:max_text]


def line_chart(values, axes):
    return [
        {"label": named(line, "Line", number), "points": points(values, axes, zip(*line.get_data(orig=False)))}
        for number, line in enumerate(axes.lines, 1)
    ]


def scatter_chart(values, axes):
    return [
        {"label": named(group, "Group", number), "points": points(values, axes, group.get_offsets().tolist())}
        for number, group in enumerate(axes.collections, 1)
    ]


def tick_name(axis, position):
    """The text of the tick that stands there, or the number."""
    for number, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels()):
        if abs(number - position) < 1e-6 and label.get_text():
            return label.get_text()[:max_text]
    return "%.10g" % position


def bar_chart(values, axes):
    found = []
    groups = axes.containers or [axes.patches]
    for number, group in enumerate(groups, 1):
        lies = getattr(group, "orientation", "vertical") == "horizontal"
        name = named(group, "Group", number) if hasattr(group, "get_label") else "Group 1"
        for bar in group:
            (x, y), (width, height) = bar.get_xy(), (bar.get_width(), bar.get_height())
            label = tick_name(axes.yaxis, y + height / 2) if lies else tick_name(axes.xaxis, x + width / 2)
            found.append({"label": values.plain(label), "group": values.plain(name), "value": values.rounded(width if lies else height)})
    return found


def pie_chart(values, axes):
    return [
        {
            "label": values.plain(named(wedge, "Wedge", number)),
            # Matplotlib keeps them in single precision.
            "angle": values.plain(float("%.6g" % (wedge.theta2 - wedge.theta1))),
            "radius": values.plain(wedge.r),
        }
        for number, wedge in enumerate(axes.patches, 1)
    ]


def box_chart(values, axes):
    drawn = [(line, [[float(number) for number in side] for side in line.get_data(orig=False)]) for line in axes.lines]
    boxes = [patch.get_path().vertices for patch in axes.patches]
    spans = [[(box[:, side].min(), box[:, side].max()) for side in (0, 1)] for box in boxes]

    def is_whisker(ends, span, side):
        return len(ends[0]) == 2 and ends[side][0] == ends[side][1] and abs(ends[side][0] - sum(span[side]) / 2) < 1e-9

    upright = [sum(is_whisker(ends, span, side) for span in spans for _, ends in drawn) for side in (0, 1)]
    across = 0 if upright[0] >= upright[1] else 1
    axis = axes.xaxis if across == 0 else axes.yaxis
    found = []
    for span in spans:
        (left, right), (low, high) = span[across], span[1 - across]
        lines, outliers, median = [low, high], [], None
        for line, ends in drawn:
            if not ends[across] or min(ends[across]) < left - 1e-9 or max(ends[across]) > right + 1e-9:
                continue
            heights = ends[1 - across]
            if line.get_linestyle() in ("None", "none", "", " "):
                outliers += [height for height in heights if not low <= height <= high]
            elif heights[0] == heights[-1] and low <= heights[0] <= high and max(ends[across]) - min(ends[across]) > (right - left) * 0.75:
                median = heights[0]
            else:
                lines += heights
        numbers = {"min": min(lines), "first_quartile": low, "median": median, "third_quartile": high, "max": max(lines)}
        found.append(
            dict(
                {name: values.rounded(number) for name, number in numbers.items()},
                label=values.plain(tick_name(axis, (left + right) / 2)),
                outliers=[values.rounded(each) for each in outliers],
            )
        )
    return found


# What is drawn, by the names of its classes, and how it is read.
kinds = {
    ("Line2D",): ("line", line_chart),
    ("PathCollection",): ("scatter", scatter_chart),
    ("Rectangle",): ("bar", bar_chart),
    ("Wedge",): ("pie", pie_chart),
    ("Line2D", "PathPatch"): ("box_and_whisker", box_chart),
}


def chart_of_axes(values, axes):
    drawn = [each for group in (axes.lines, axes.patches, axes.collections, axes.images, axes.tables) for each in group]
    if not drawn:
        return None
    kind, read = kinds.get(tuple(sorted({type(each).__name__ for each in drawn})), ("unknown", None))
    chart = {"type": kind, "title": text_of(axes.get_title()), "elements": [] if read is None else read(values, axes)}
    if kind in ("line", "scatter", "bar", "box_and_whisker"):
        chart.update(labels(axes))
    if kind in ("line", "scatter"):
        chart.update(ticks(values, axes, "x"))
        chart.update(ticks(values, axes, "y"))
    return chart


def chart_of(figure):
    """A figure's data as JSON; None: it has none, or too much."""
    values = Values()
    try:
        charts = [chart_of_axes(values, axes) for axes in figure.get_axes()[:max_names]]
        charts = [chart for chart in charts if chart is not None]
        title = getattr(figure, "_suptitle", None)
        if len(charts) > 1:
            charts = [{"type": "superchart", "title": text_of(title.get_text()) if title else None, "elements": charts}]
        return json.dumps(charts[0], allow_nan=False) if charts else None
    except Exception:
        # A figure may hold anything that its program has put there.
        return None


def data_of(table):
    """The columns of a pandas table as JSON; None: it is none, or too large."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(table, pandas.DataFrame):
        return None
    if table.shape[1] > max_names or table.size > max_values:
        return None
    values = Values()
    try:
        columns = {str(name)[:max_text]: [values.plain(each) for each in table.iloc[:, at].tolist()] for at, name in enumerate(table.columns)}
        return json.dumps(columns, allow_nan=False)
    except Exception:
        return None
