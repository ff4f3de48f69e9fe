"""The SVG: well formed, complete, nothing cut off, edges beneath boxes."""

import re
import xml.etree.ElementTree as ET

import pytest

from invman.report import svg

NS = "{http://www.w3.org/2000/svg}"


def parse(document):
    return ET.fromstring(svg(document).encode())  # noqa: S314 - our own text


def shift(element):
    match = re.fullmatch(r"translate\(([-\d.]+),([-\d.]+)\)", element.get("transform") or "translate(0,0)")
    assert match
    return float(match[1]), float(match[2])


def walk(element, x=0.0, y=0.0, depth=0):
    """Yield every element with the place where its coordinates begin."""
    dx, dy = shift(element)
    yield element, x + dx, y + dy
    for child in element:
        yield from walk(child, x + dx, y + dy, depth + 1)


def node_boxes(root):
    """Id -> (left, top, width, height) on the page."""
    boxes = {}
    for element, x, y in walk(root):
        if element.get("data-id") is not None:
            rect = element.find(f"{NS}rect")
            assert rect is not None
            boxes[element.get("data-id")] = (x, y, float(rect.get("width", "")), float(rect.get("height", "")))
    return boxes


def drawn_covers(root):
    """The covers, found again from where the lines begin and end."""
    boxes = node_boxes(root)
    by_top = {(round(x + w / 2), round(y)): name for name, (x, y, w, _) in boxes.items()}
    found = []
    for element, x, y in walk(root):
        start = element.get("data-from")
        if start is None:
            continue
        left, top, width, height = boxes[start]
        for numbers in re.findall(r"M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)", element.get("d", "")):
            x1, y1, x2, y2 = map(float, numbers)
            assert x + x1 == pytest.approx(left + width / 2, abs=0.3)
            assert y + y1 == pytest.approx(top + height, abs=0.3)
            near = [name for (cx, cy), name in by_top.items() if abs(cx - x - x2) <= 1.5 and abs(cy - y - y2) <= 1.5]
            assert len(near) == 1
            found.append((start, near[0]))
    return found


@pytest.mark.parametrize(("neurons", "nodes", "covers"), [(3, 24, 58), (4, 116, 432)])
def test_every_manifold_and_cover_is_drawn(make, neurons, nodes, covers):
    document = make(neurons)
    root = parse(document)
    assert set(node_boxes(root)) == {node["id"] for node in document["manifolds"]}
    assert len(node_boxes(root)) == nodes
    assert sorted(drawn_covers(root)) == sorted(map(tuple, document["covers"]))
    assert len(document["covers"]) == covers


@pytest.mark.parametrize("neurons", [1, 2, 3, 4])
def test_nothing_is_cut_off(make, neurons):
    root = parse(make(neurons))
    x0, y0, width, height = map(float, root.get("viewBox", "").split())
    assert (x0, y0) == (0, 0)
    boxes = 0
    for element, x, y in walk(root):
        if element.tag == f"{NS}rect" and "%" not in element.get("width", ""):
            left, top = x + float(element.get("x", 0)), y + float(element.get("y", 0))
            assert left >= 0
            assert top >= 0
            assert left + float(element.get("width", 0)) <= width
            assert top + float(element.get("height", 0)) <= height
            boxes += 1
        if element.tag == f"{NS}text":
            size = 12.1 if "title" in element.get("class", "") else 7.4
            right = x + float(element.get("x", 0)) + size * len(element.text or "")
            assert right <= width, element.text
    assert boxes > 3


def test_edges_lie_beneath_opaque_boxes(document):
    text = svg(document)
    assert text.rindex("data-from=") < text.index("data-id=")
    style = text[text.index("<style>") : text.index("</style>")]
    fills = re.findall(r"\.origin-\d rect\{fill:(\S+?);", style)
    assert len(fills) == 2
    assert all(re.fullmatch("#[0-9a-f]{6}", fill) for fill in fills)


def test_title_line_axis_and_legend(document):
    texts = [element.text or "" for element in parse(document).iter(f"{NS}text")]
    assert texts[0] == "2-3tanh-1"
    for fact in ("D = 9", "24 manifolds", "7 classes", "order 48"):
        assert fact in texts[1]
    assert [text for text in texts if text.startswith("dim ")] == ["dim 9", "dim 6", "dim 3", "dim 0"]
    assert {"symmetry-induced", "dead-neuron", "invariant-in-test", "13 manifolds", "1 manifold"} <= set(texts)


def test_an_unchecked_document_has_no_verdict_in_its_legend(make):
    text = svg(make(2, verdicts=False))
    assert 'class="mark"' not in text
    assert ">unchecked<" not in text
    assert "verdict: unchecked" in text


def test_tooltips_tell_all(document):
    titles = {
        element.get("data-id"): element.findtext(f"{NS}title") or ""
        for element in parse(document).iter(f"{NS}g")
        if element.get("data-id")
    }
    for node in document["manifolds"]:
        title = titles[node["id"]]
        assert title.splitlines()[0] == node["name"]
        assert f"dimension {node['dimension']}, {node['orbit_size']} conjugate" in title
        assert f"origin: {node['origin']}" in title
        assert "verdict: invariant-in-test (normal" in title
        for equation in node["equations"]:
            assert equation in title.splitlines()


def test_a_tooltip_counts_what_it_leaves_out(document):
    document["manifolds"][0]["equations"] = [f"a[{i}] = 0" for i in range(40)]
    assert "… and 28 equations more" in svg(document)


def test_hostile_names(hostile):
    root = parse(hostile)
    titles = [element.text or "" for element in root.iter(f"{NS}title")]
    name = hostile["manifolds"][1]["name"].replace("\x00", "\ufffd")
    assert any(title.startswith(name) for title in titles)
    assert len(node_boxes(root)) == 24
    assert sorted(drawn_covers(root)) == sorted(map(tuple, hostile["covers"]))
    assert not list(root.iter(f"{NS}script"))


def test_verdicts_are_marked(hostile):
    by_id = {element.get("data-id"): element.get("class") or "" for element in parse(hostile).iter(f"{NS}g")}
    assert "not-invariant" in by_id["m2"].split()
    assert "inconclusive" in by_id["m3"].split()
    assert "invariant-in-test" in by_id["m0"].split()


def test_long_titles_and_no_manifold(document):
    document["architecture"] = "input x[i]\n" + "h[k] = tanh(w[k,i]*x[i])\n" * 9
    texts = [element.text or "" for element in parse(document).iter(f"{NS}text")]
    assert "…" in texts[0]
    parse({**document, "manifolds": [], "covers": []})


def test_the_same_bytes_every_time(make):
    assert svg(make(3)) == svg(make(3))


def test_it_needs_nothing_else(document):
    assert set(re.findall(r"https?://[^\"' ]+", svg(document))) == {"http://www.w3.org/2000/svg"}
    assert "href" not in svg(document)
