"""The page: well formed, self-contained, safe against its own data, and alive in a browser."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invman.report import html
from invman.report.html import embed

VOID = {"meta", "link", "input", "br"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id")))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    @property
    def data(self):
        return json.loads(self.texts["script", "data"])

    def ids(self):
        return [attributes["data-id"] for tag, attributes in self.tags if "data-id" in attributes]


@pytest.mark.parametrize("neurons", [3, 4])
def test_every_manifold_and_cover_is_in_the_page(make, neurons):
    document = make(neurons)
    page = Page(html(document))
    assert sorted(page.ids()) == sorted(node["id"] for node in document["manifolds"])
    assert page.data["covers"] == document["covers"]
    assert page.data["boxes"].keys() == set(page.ids())
    given_nodes = {node["id"]: node for node in document["manifolds"]}
    for node in page.data["manifolds"]:
        assert node.items() >= given_nodes[node["id"]].items()
    assert [size for _, size in page.data["classes"]] == sorted_class_sizes(document)
    drawn = sum(attributes.get("d", "").count("L") for tag, attributes in page.tags if "data-from" in attributes)
    assert drawn == len(document["covers"])


def sorted_class_sizes(document):
    seen = {}
    for node in sorted(document["manifolds"], key=lambda node: -node["dimension"]):
        seen.setdefault(node["class"], node["orbit_size"])
    return list(seen.values())


def test_nodes_can_be_reached_by_keyboard(document):
    nodes = [attributes for _, attributes in Page(html(document)).tags if "data-id" in attributes]
    assert all(node["tabindex"] == "0" and node["role"] == "button" for node in nodes)
    assert nodes[0]["aria-label"] == "free, dimension 9"


def test_nothing_is_loaded(document):
    text = html(document)
    for tag, attributes in Page(text).tags:
        assert "src" not in attributes
        if "href" in attributes:
            assert attributes["href"] == "data:,"
        assert tag not in {"iframe", "img", "object"}
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text


def test_both_colour_schemes(document):
    text = html(document)
    assert text.count("prefers-color-scheme:dark") >= 2
    assert "#e4eefc" in text
    assert "#1d3352" in text


def test_hostile_names_stay_text(hostile):
    text = html(hostile)
    page = Page(text)
    assert text.lower().count("</script") == 2
    assert "<b>" not in text
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert page.data["manifolds"][1]["name"] == hostile["manifolds"][1]["name"].replace("\x00", "\ufffd")
    assert page.data["manifolds"][2]["verdict"]["drift"] == "inf"
    assert page.data["manifolds"][3]["verdict"]["drift"] == "nan"
    assert page.data["manifolds"][4]["verdict_name"] == "unchecked"


def test_a_name_that_looks_like_a_marker_is_not_filled_in(document):
    document["manifolds"][1]["name"] = "@@DATA@@"
    page = Page(html(document))
    assert page.data["manifolds"][1]["name"] == "@@DATA@@"


def test_no_marker_is_left(document):
    assert "@@" not in html(document)


@given(st.recursive(st.none() | st.integers() | st.text(st.characters(max_codepoint=0x7E, min_codepoint=0x20)),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab<&/"), inner)))  # fmt: skip
def test_embedded_data_is_read_back_and_cannot_end_the_script(data):
    text = embed(data)
    assert json.loads(text) == data
    assert not set("<>&\u2028\u2029") & set(text)


def test_the_same_bytes_every_time(make):
    assert html(make(3)) == html(make(3))


def test_no_manifold(document):
    assert Page(html({**document, "manifolds": [], "covers": []})).ids() == []


PROBE = """<script>addEventListener("load", () => {
  const out = {}, one = (s) => document.querySelector(s), name = () => (one("#panel h2") || {}).textContent;
  const fire = (target, event) => target.dispatchEvent(event);
  const key = (target, name) => fire(target, new KeyboardEvent("keydown", {key: name, bubbles: true}));
  const node = (id) => document.querySelector(`[data-id="${id}"]`);
  try {
    out.overview = one("#panel").textContent.includes("Classes (7)");
    fire(node("m1"), new PointerEvent("pointerover", {bubbles: true}));
    out.near = [...document.querySelectorAll(".near")].map((n) => n.dataset.id).sort();
    fire(node("m1"), new MouseEvent("click", {bubbles: true}));
    out.pinned = name(); out.panel = one("#panel").textContent;
    key(document.body, "Escape"); out.unpinned = name() === undefined;
    node("m0").focus(); key(node("m0"), "Enter"); out.entered = name();
    key(node("m0"), "ArrowDown"); out.below = document.activeElement.dataset.id;
    one("#search").value = "w[2,:] = 0"; fire(one("#search"), new Event("input"));
    out.matches = one("#matches").textContent;
    out.gone = document.querySelectorAll(".gone").length;
    const box = one("#hasse").getAttribute("viewBox");
    fire(one("#hasse"), new WheelEvent("wheel", {deltaY: -200, clientX: 300, clientY: 300, cancelable: true}));
    out.zoomed = one("#hasse").getAttribute("viewBox") !== box;
    one("#fit").click(); out.fitted = one("#hasse").getAttribute("viewBox") === box;
  } catch (error) { out.error = String(error.stack); }
  document.title = "RESULT" + encodeURIComponent(JSON.stringify(out)) + "END";
});</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_the_page_in_a_browser(document, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(html(document).replace("</body>", PROBE), encoding="utf-8")
    command = [CHROMIUM or "", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*command, "--window-size=1400,900", "--dump-dom", page.as_uri()], capture_output=True, timeout=120, check=True
    )
    match = re.search("<title>RESULT(.*?)END</title>", done.stdout.decode())
    assert match, "the script of the page did not run"
    result = json.loads(unquote(match[1]))
    assert "error" not in result
    covers = document["covers"]
    near = {a for a, b in covers if b == "m1"} | {b for a, b in covers if a == "m1"} | {"m1"}
    first, nodes = document["manifolds"][1], document["manifolds"]
    assert result["overview"]
    assert result["near"] == sorted(near)
    assert result["pinned"] == first["name"]
    for shown in (*first["equations"], first["origin"], first["reduced"], "invariant-in-test", "3.0e-15"):
        assert shown in result["panel"]
    assert result["unpinned"]
    assert result["entered"] == "free"
    assert ["m0", result["below"]] in covers
    dead = sum("w[2,:] = 0" in node["equations"] for node in nodes)
    assert result["matches"] == f"{dead} of 24"
    assert result["gone"] == 24 - dead
    assert result["zoomed"]
    assert result["fitted"]
