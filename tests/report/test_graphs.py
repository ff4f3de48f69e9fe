"""The lattice as a graph: networkx, GraphML there and back, Graphviz."""

import io
import json
import re

import networkx as nx
import pytest

from invman.report import dot, graph, graphml

STRING = r'"((?:[^"\\]|\\.)*)"'


def read(text):
    return nx.read_graphml(io.BytesIO(text.encode()))


@pytest.mark.parametrize(("neurons", "nodes", "covers"), [(3, 24, 58), (4, 116, 432)])
def test_the_graph_is_the_lattice(make, neurons, nodes, covers):
    document = make(neurons)
    made = graph(document)
    assert (len(made), made.number_of_edges()) == (nodes, covers)
    assert set(made.edges) == set(map(tuple, document["covers"]))
    assert nx.is_directed_acyclic_graph(made)
    assert [name for name in made if made.in_degree(name) == 0] == ["m0"]
    assert made.graph["symmetry_order"] == document["symmetry"]["order"]
    assert nx.transitive_reduction(made).edges == made.edges


def test_attributes_are_scalars_and_complete(document):
    document["manifolds"][3]["orbit_size"] = 10**30
    made = graph(document)
    for given in document["manifolds"]:
        node = made.nodes[given["id"]]
        assert all(type(value) in (str, int, float) for value in node.values())
        assert node["name"] == given["name"]
        assert node["dimension"] == given["dimension"]
        assert node["equations"].splitlines() == given["equations"]
        assert node["normal"] == given["verdict"]["normal"]
        assert json.loads(node.get("learning_rates", "{}")) == given["learning_rates"]
    assert made.nodes["m3"]["orbit_size"] == str(10**30)


@pytest.mark.parametrize("kind", ["document", "hostile"])
def test_graphml_there_and_back(kind, request):
    made = graph(request.getfixturevalue(kind))
    back = read(graphml(request.getfixturevalue(kind)))
    assert isinstance(back, nx.DiGraph)
    assert set(back.edges) == set(made.edges)
    for name, attributes in made.nodes(data=True):
        assert back.nodes[name].keys() == attributes.keys()
        for key, value in attributes.items():
            same = pytest.approx(value, rel=0, abs=0, nan_ok=True) if isinstance(value, float) else value
            assert back.nodes[name][key] == same
    assert back.graph["architecture"] == made.graph["architecture"]
    assert back.graph["parameters"] == 9


def read_dot(text):
    """Read the small part of the DOT language that is written."""
    nodes = {m[1]: m[2] for m in re.finditer(rf"^  {STRING} \[(.*)\];$", text, re.M)}
    edges = re.findall(rf"^  {STRING} -> {STRING};$", text, re.M)
    ranks = [re.findall(STRING, line) for line in re.findall(r"^  \{ rank=same; (.*) \}$", text, re.M)]
    return nodes, edges, ranks


@pytest.mark.parametrize("kind", ["document", "hostile"])
def test_dot_holds_everything(kind, request):
    document = request.getfixturevalue(kind)
    nodes, edges, ranks = read_dot(dot(document))
    assert set(nodes) == {node["id"] for node in document["manifolds"]}
    assert edges == [tuple(pair) for pair in document["covers"]]
    dimension = {node["id"]: node["dimension"] for node in document["manifolds"]}
    assert [{dimension[name] for name in rank} for rank in ranks] == [{9}, {6}, {3}, {0}]
    assert sum(map(len, ranks)) == 24


def test_dot_escapes(hostile):
    hostile["manifolds"][0]["id"] = 'quote " and \\'
    hostile["covers"] = []
    text = dot(hostile)
    bare = re.sub(STRING, "", text)
    assert not set("<&'|`") & set(bare)
    assert r'"quote \" and \\" [' in text
    assert r"<b>&amp;\"'|`</script>\\_{$}" in text
    assert text.count("{") - text.count("}") == 0


def test_the_same_bytes_every_time(make):
    assert graphml(make(3)) == graphml(make(3))
    assert dot(make(3)) == dot(make(3))
