"""A curriculum by scores: a first model scores every graph, a second one starts with the easy ones.

    python curriculum.py cache scores.json
    leat batches cache --curriculum scores.json --epochs 10 --report curriculum.html

The scores are the errors of a small autoencoder of the mean of each graph's node features, trained
on benign graphs. Any number per graph works as its score: low ones come first. Needs torch
and torch_geometric (pip install "./python[torch]", in a checkout).
"""
import json
import sys

import torch
from torch_geometric.nn import global_mean_pool

import leat
import leat.torch

EPOCHS = 10


class Autoencoder(torch.nn.Module):
    """The mean of a graph's features, through a bottleneck and back."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(35, 8), torch.nn.ReLU(),
                                          torch.nn.Linear(8, 35))

    def forward(self, batch):
        """The error of each graph."""
        means = global_mean_pool(batch.x, batch.batch, batch.num_graphs)
        return ((self.layers(means) - means) ** 2).mean(dim=1)


def train_on_benign(model, batches, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for batch in batches:
            benign = batch.y == 0
            if not benign.any():
                continue
            loss = model(batch)[benign].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@torch.no_grad()
def scores_of(model, cache):
    """Number in the split -> score, of every graph of the training split."""
    # with_graph: batches say which graphs they hold; "alone": none is left out
    batches = leat.torch.graph_loader(cache, "train", max_nodes=2000, oversize="alone",
                                      with_graph=True, epochs=1)
    return {number: score for batch in batches
            for number, score in zip(batch.graph.tolist(), model(batch).tolist())}


def write_scores(scores, cache, path):
    """A graph is named by its capture and the first frame of its window, so that the file is
    valid for any cache with the same fingerprint."""
    facts = [cache["train"].facts(number) for number in scores]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"fingerprint": cache.fingerprint, "model": "autoencoder of means",
                   "capture": [one.capture for one in facts],
                   "window_start": [one.window_start for one in facts],
                   "score": list(scores.values())}, file)


def main(cache, path):
    torch.manual_seed(0)
    cache = leat.CanDataset(cache)
    scorer = Autoencoder()
    train_on_benign(scorer, leat.torch.graph_loader(cache, max_nodes=2000, seed=1), epochs=5)
    scores = scores_of(scorer, cache)
    write_scores(scores, cache, path)
    print(f"{len(scores)} graphs scored, from {min(scores.values()):.4f} to "
          f"{max(scores.values()):.4f}")

    # Benign graphs come in tiers, by score; all others are in every epoch.
    lessons = leat.torch.graph_loader(cache, max_nodes=2000, seed=1, curriculum=path,
                                      epochs=EPOCHS)
    model = Autoencoder()
    for epoch in range(EPOCHS):
        facts = lessons.loader.epoch(epoch)
        train_on_benign(model, lessons, epochs=1)
        print(f"epoch {epoch}: tiers 1 to {facts.tiers}, {facts.graphs} graphs, "
              f"{facts.batches} batches")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: curriculum.py CACHE SCORES_FILE")
    main(sys.argv[1], sys.argv[2])
