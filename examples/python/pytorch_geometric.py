"""A graph network of PyTorch Geometric learns to detect attacks on a CAN bus, on leat's batches.

    leat synth can --frames 200000 --vehicles 2 -o logs
    leat ingest can logs -o cache
    python pytorch_geometric.py cache

Accuracy alone says little where most windows are benign: beside it stand what a detector that never
finds anything has, the share of alarms that are right (precision), the share of attacks that are
found (recall), and the false alarms. docs/tutorial-can.md goes through it step by step. Needs torch
and torch_geometric (pip install "./python[torch]", in a checkout).
"""
import sys

import torch
from torch_geometric.nn import GCNConv, global_mean_pool

import leat
import leat.torch

EPOCHS = 5


class Detector(torch.nn.Module):
    """Two convolutions over the graph of a window, and a classifier of their mean."""

    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(35, 32), GCNConv(32, 32)
        self.out = torch.nn.Linear(32, 2)

    def forward(self, batch):
        x = self.first(batch.x, batch.edge_index).relu()
        x = self.second(x, batch.edge_index).relu()
        return self.out(global_mean_pool(x, batch.batch, batch.num_graphs))


def train(model, optimizer, batches):
    """One pass over the split: the mean loss of its labelled graphs."""
    model.train()
    total = count = 0
    for batch in batches:  # torch_geometric.data.Batch
        labelled = (batch.y >= 0).sum().item()  # -1: the graph is unlabelled
        if labelled == 0:
            continue
        loss = torch.nn.functional.cross_entropy(model(batch), batch.y, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * labelled
        count += labelled
    return total / max(count, 1)


@torch.no_grad()
def judge(model, batches):
    """How many of a split's labelled graphs are [benign, attacks] and called [benign, attacks]."""
    model.eval()
    counts = torch.zeros(2, 2, dtype=torch.int64)
    for batch in batches:
        labelled = batch.y >= 0
        pairs = 2 * batch.y[labelled] + model(batch)[labelled].argmax(dim=1)
        counts += torch.bincount(pairs, minlength=4).view(2, 2)
    return counts.tolist()


def share(part, whole):
    return f"{part / whole:.3f}" if whole else "-"


def describe(counts):
    (quiet, false_alarms), (missed, found) = counts
    benign, attacks = quiet + false_alarms, missed + found
    return (f"{share(quiet + found, benign + attacks)} right (always benign: "
            f"{share(benign, benign + attacks)}), precision {share(found, found + false_alarms)}, "
            f"recall {share(found, attacks)}, {false_alarms} false alarms in {benign} windows")


def main(path):
    torch.manual_seed(0)
    cache = leat.CanDataset(path)
    model = Detector()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    # device="cuda" gives batches that are on the GPU already
    batches = leat.torch.graph_loader(cache, "train", max_nodes=2000, seed=1)
    # "alone": evaluation leaves no graph out, however large it is
    validation = leat.torch.graph_loader(cache, "val", max_nodes=2000, oversize="alone")
    for epoch in range(EPOCHS):
        loss = train(model, optimizer, batches)
        print(f"epoch {epoch}: loss {loss:.4f}, validation {describe(judge(model, validation))}")
    for split in cache:
        if split.startswith("test"):
            batches = leat.torch.graph_loader(cache, split, max_nodes=2000, oversize="alone")
            print(f"{split}: {describe(judge(model, batches))}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: pytorch_geometric.py CACHE")
    main(sys.argv[1])
