"""Write torch_block.json: the graph of the block in test_torch.py as torch.export records it, and its values.

Run from this folder with PyTorch installed: python make_torch_block.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from test_torch import block  # noqa: E402

from invman.architecture.torch import record_torch  # noqa: E402

torch.manual_seed(0)
module, tokens = block(torch).double(), torch.tensor([1, 4, 2])
graph = record_torch(module, tokens)
for operation in graph["operations"]:
    operation["where"] = Path(operation["where"]).name
record = {
    "graph": graph,
    "theta": torch.nn.utils.parameters_to_vector(module.parameters()).tolist(),
    "x": np.eye(5)[tokens.numpy()].reshape(-1).tolist(),
    "outputs": module(tokens).reshape(-1).tolist(),
}
(HERE / "torch_block.json").write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")
