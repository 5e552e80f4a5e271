"""Training steps of graphids' VGAE and GAT in PyTorch Geometric, as bench/detect_step.c has them.

pyg_detect.py MODEL IDENTIFIERS GRAPHS BATCHES MILLISECONDS THREADS: MODEL is vgae or gat, in the
small size. A step is BATCHES batches of GRAPHS random graphs of 33 nodes and 98 edges, gradients
accumulated, the norm cut to 1, and Adam. Batches are made before. Prints graphs per second of the
best step, by the clock and by the processor's seconds of all threads, and the parameters.

The networks are written with the layers of PyTorch Geometric, the self-loops replaced once for all
layers of a GAT and for each layer of a VGAE, the logits of neighbours computed for all identifiers,
as graphids does. Parameters have the names of its state dict.
"""
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = sys.argv[6] if len(sys.argv) > 6 else "1"

import torch  # noqa: E402
import torch_geometric  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch_geometric.nn import (  # noqa: E402
    GATv2Conv, GraphNorm, JumpingKnowledge, global_mean_pool)
from torch_geometric.utils import add_self_loops, remove_self_loops  # noqa: E402

from common import answer, peak_bytes  # noqa: E402

NODES, EDGES, FEATURES, EDGE_FEATURES = 33, 98, 35, 11
MASKED, DRAWS = 0.15, 32
RATES = {"vgae": 0.002, "gat": 0.001}


class Lookup(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.embedding = nn.Embedding(rows, width)


class Input(nn.Module):
    """The embedding of the identifiers, beside the features."""

    def __init__(self, rows, width):
        super().__init__()
        self.id_encoder = Lookup(rows, width)

    def forward(self, x, ids):
        return torch.cat([self.id_encoder.embedding(ids), x], dim=1)


class Vgae(nn.Module):
    def __init__(self, identifiers, heads=4, width=16, dropout=0.1):
        super().__init__()
        wide, self.identifiers, self.dropout = heads * width, identifiers, dropout
        self.input_encoder = Input(identifiers + 1, 32)
        self.encoder_layers = nn.ModuleList([
            GATv2Conv(32 + FEATURES, width, heads, edge_dim=EDGE_FEATURES, fill_value="mean")])
        self.encoder_bns = nn.ModuleList([GraphNorm(wide)])
        self.z_mean, self.z_logvar = nn.Linear(wide, wide), nn.Linear(wide, wide)
        self.decoder_layers = nn.ModuleList([
            GATv2Conv(wide, FEATURES, 1, edge_dim=EDGE_FEATURES, fill_value="mean")])
        self.canid_classifier = nn.Linear(wide, identifiers)
        self.neighborhood_decoder = nn.Sequential(
            nn.Linear(wide, wide), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(wide, wide), nn.ReLU(), nn.Dropout(dropout), nn.Linear(wide, identifiers))

    def draw(self, batch):
        nodes = len(batch["x"])
        return {"mask": torch.rand(nodes) < MASKED,
                "noise": torch.randn(nodes, self.z_mean.out_features),
                "negatives": torch.randint(self.identifiers, (nodes, DRAWS))}

    def losses(self, batch, drawn):
        x, ids, mask = batch["x"], batch["node_id"], drawn["mask"]
        edges, attr = batch["edge_index"], batch["edge_attr"]
        h = self.input_encoder(x.masked_fill(mask[:, None], 0),
                               ids.masked_fill(mask, self.identifiers))
        h = self.encoder_layers[0](h, edges, attr)
        h = self.encoder_bns[0](h, batch["batch"], batch["graphs"]).relu()
        h = F.dropout(h, self.dropout, self.training)
        mean, logvar = self.z_mean(h), self.z_logvar(h).clamp(-10, 10)
        z = mean + (logvar / 2).exp() * drawn["noise"]
        recon = F.mse_loss(self.decoder_layers[0](z, edges, attr), x)
        names = F.cross_entropy(self.canid_classifier(z[mask]), ids[mask])
        neighbours = self.neighbours(z, edges, ids, mask, drawn["negatives"])
        kl = -0.5 * (1 + logvar - mean ** 2 - logvar.exp()).mean()
        return {"total": recon + 0.1 * names + 0.05 * neighbours + 0.01 * kl, "recon": recon,
                "canid": names, "nbr": neighbours, "kl": kl}

    def neighbours(self, z, edges, ids, mask, negatives):
        logits = self.neighborhood_decoder(z)
        source, target = edges[:, mask[edges[0]]]
        found = source * self.identifiers + ids[target]
        drawn = torch.arange(len(z))[:, None] * self.identifiers + negatives
        kept = ~torch.isin(drawn, found)
        row = torch.arange(len(z))[:, None].expand_as(negatives)
        return F.softplus(-logits[source, ids[target]]).mean() \
            + F.softplus(logits[row[kept], negatives[kept]]).mean()


class Gat(nn.Module):
    def __init__(self, identifiers, heads=4, width=24, dropout=0.3):
        super().__init__()
        wide, self.dropout = heads * width, dropout
        self.input_encoder = Input(identifiers, 16)
        self.convs = nn.ModuleList([
            GATv2Conv(size, width, heads, edge_dim=EDGE_FEATURES, add_self_loops=False)
            for size in (16 + FEATURES, wide)])
        self.jk = JumpingKnowledge("lstm", wide, 2)
        self.fc_layers = nn.Sequential(
            nn.Linear(wide, wide), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(wide, wide), nn.ReLU(), nn.Dropout(dropout), nn.Linear(wide, 2))

    def draw(self, _):
        return None

    def losses(self, batch, _):
        nodes = len(batch["x"])
        edges, attr = remove_self_loops(batch["edge_index"], batch["edge_attr"])
        edges, attr = add_self_loops(edges, attr, fill_value="mean", num_nodes=nodes)
        h, kept = self.input_encoder(batch["x"], batch["node_id"]), []
        for conv in self.convs:
            h = F.dropout(conv(h, edges, attr).relu(), self.dropout, self.training)
            kept.append(h)
        pooled = global_mean_pool(self.jk(kept), batch["batch"], batch["graphs"])
        entropy = F.cross_entropy(self.fc_layers(pooled), batch["y"], reduction="none")
        return {"total": ((1 - (-entropy).exp()) ** 2 * entropy).mean(),
                "cross_entropy": entropy.mean()}


NETWORKS = {"vgae": Vgae, "gat": Gat}


def made(graphs, identifiers):
    nodes, edges = graphs * NODES, graphs * EDGES
    first = (torch.arange(edges) // EDGES) * NODES
    return {"x": torch.rand(nodes, FEATURES) * 2 - 1, "graphs": graphs,
            "edge_attr": torch.rand(edges, EDGE_FEATURES) * 2 - 1,
            "edge_index": torch.randint(NODES, (2, edges)) + first,
            "node_id": torch.randint(identifiers, (nodes,)),
            "batch": torch.arange(nodes) // NODES, "y": (torch.arange(graphs) % 4 == 0).long()}


def step(network, optimizer, batches):
    optimizer.zero_grad()
    for batch in batches:
        (network.losses(batch, network.draw(batch))["total"] / len(batches)).backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()


def main(model, identifiers, graphs, count, milliseconds, threads):
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    network = NETWORKS[model](int(identifiers))
    optimizer = torch.optim.Adam(network.parameters(), lr=RATES[model], weight_decay=1e-4)
    batches = [made(int(graphs), int(identifiers)) for _ in range(int(count))]
    step(network, optimizer, batches)
    wall, processor, end = [], [], time.perf_counter() + int(milliseconds) / 1000
    while not wall or time.perf_counter() < end:
        begin, worked = time.perf_counter(), time.process_time()
        step(network, optimizer, batches)
        processor.append(time.process_time() - worked)
        wall.append(time.perf_counter() - begin)
    total = int(graphs) * int(count)
    answer(graphs_per_s=total / min(wall), graphs_per_processor_s=total / min(processor),
           parameters=sum(each.numel() for each in network.parameters()), steps=len(wall),
           torch=torch.__version__, torch_geometric=torch_geometric.__version__,
           peak_bytes=peak_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
