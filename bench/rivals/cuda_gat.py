"""Trains a graph attention network on a CUDA device, on batches of leat or of PyTorch Geometric.

cuda_gat.py SIDE CACHE MAX_NODES SECONDS WORKERS: CACHE is a folder of caches with one in it. SIDE:
  leat     leat.torch.graph_loader with device="cuda": the next batch is copied during computation
  host     the same without a device: pinned batches, and .to("cuda", non_blocking=True) by the loop
  pyg      torch_geometric's DataLoader of the same graphs as Data objects in memory, shuffled, as
           many to a batch as have MAX_NODES nodes on average, pinned, WORKERS processes (0: none)
  bound    batches that are on the device before, in turn: what the device can do
The network is two GATv2 layers of 4 heads x 24 over features and an embedding of the identifiers,
with the features of edges, a mean over nodes and two linear layers; Adam, f32. Prints graphs and
nodes a second, after steps that are not counted, until the device is done.
"""
import glob
import itertools
import os
import sys
import time

import torch
import torch_geometric
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATv2Conv, global_mean_pool

from common import answer, peak_bytes
from pyg_batches import read

BEFORE, KEPT = 20, 16  # steps before the first that counts; batches that `bound` has


class Network(torch.nn.Module):
    def __init__(self, identifiers, heads=4, width=24, embedding=16):
        super().__init__()
        wide = heads * width
        self.names = torch.nn.Embedding(identifiers, embedding)
        self.first = GATv2Conv(35 + embedding, width, heads, edge_dim=11, add_self_loops=False)
        self.second = GATv2Conv(wide, width, heads, edge_dim=11, add_self_loops=False)
        self.judge = torch.nn.Sequential(torch.nn.Linear(wide, wide), torch.nn.ReLU(),
                                         torch.nn.Linear(wide, 2))

    def forward(self, batch):
        x = torch.cat([batch.x, self.names(batch.node_id)], dim=1)
        x = self.first(x, batch.edge_index, batch.edge_attr).relu()
        x = self.second(x, batch.edge_index, batch.edge_attr).relu()
        return self.judge(global_mean_pool(x, batch.batch, batch.num_graphs))


def endless(batches):
    """The epochs of a loader, one after the other."""
    while True:
        yield from batches


def batches_of(side, path, max_nodes, workers):
    """Batches on the device, and how many identifiers they have."""
    if side == "pyg":
        graphs = read(os.path.join(path, "train.safetensors"), sys.maxsize)
        size = max(1, max_nodes * len(graphs) // sum(graph.num_nodes for graph in graphs))
        loader = DataLoader(graphs, batch_size=size, shuffle=True, pin_memory=True,
                            num_workers=workers, persistent_workers=workers > 0)
        found = (batch.to("cuda", non_blocking=True) for batch in endless(loader))
        return found, 1 + max(int(graph.node_id.max()) for graph in graphs)
    import leat
    import leat.torch
    cache = leat.CanDataset(path)
    loader = leat.torch.graph_loader(cache, "train", max_nodes=max_nodes, seed=1,
                                     device=None if side == "host" else "cuda")
    found = endless(loader)
    if side == "host":
        found = (batch.to("cuda", non_blocking=True) for batch in found)
    if side == "bound":
        found = itertools.cycle([next(found) for _ in range(KEPT)])
    return found, len(cache.vocabulary) + 1


def main(side, caches, max_nodes, seconds, workers):
    torch.manual_seed(0)
    path, = glob.glob(os.path.join(caches, "can-*"))
    batches, identifiers = batches_of(side, path, int(max_nodes), int(workers))
    network = Network(identifiers).cuda()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    graphs = nodes = steps = 0
    begin = None
    for number, batch in enumerate(batches):
        if number == BEFORE:
            torch.cuda.synchronize()
            begin = time.monotonic()
        loss = torch.nn.functional.cross_entropy(network(batch), batch.y, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if begin is not None:
            graphs, nodes, steps = graphs + batch.num_graphs, nodes + batch.num_nodes, steps + 1
            if time.monotonic() - begin > float(seconds):
                break
    torch.cuda.synchronize()
    spent = time.monotonic() - begin
    if not torch.isfinite(loss):
        raise RuntimeError("the loss is not finite")
    answer(graphs_per_s=graphs / spent, nodes_per_s=nodes / spent, steps_per_s=steps / spent,
           nodes=nodes / steps, loss=loss.item(), device=torch.cuda.get_device_name(),
           device_bytes=torch.cuda.max_memory_allocated(), peak_bytes=peak_bytes(),
           torch=torch.__version__, torch_geometric=torch_geometric.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
