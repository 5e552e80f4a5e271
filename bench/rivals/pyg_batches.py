"""Batch.from_data_list of PyTorch Geometric, in one thread, graphs in memory as Data objects.

pyg_batches.py SOURCE GRAPHS MAX_NODES SECONDS: SOURCE is leat's train.safetensors, of
which GRAPHS random graphs are used, or NODES,EDGES,FEATURES to generate that many. Batches are of
random graphs, as many as have MAX_NODES nodes on average. Prints graphs and bytes per second.
"""
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402
import torch_geometric  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402

from common import answer, peak_bytes  # noqa: E402


def made(nodes, edges, features, count):
    return [Data(x=torch.rand(nodes, features), edge_index=torch.randint(nodes, (2, edges)))
            for _ in range(count)]


def read(path, count):
    from safetensors.torch import load_file
    file = load_file(path)
    picked = torch.randperm(len(file["y"]))[:count].tolist()
    graphs = []
    for g in picked:
        n, m = file["node_ptr"][g:g + 2].tolist()
        e, f = file["edge_ptr"][g:g + 2].tolist()
        graphs.append(Data(
            x=file["x"][n:m].clone(), edge_attr=file["edge_attr"][e:f].clone(),
            edge_index=file["edge_index"][:, e:f].long(), node_id=file["node_id"][n:m].long(),
            y=file["y"][g:g + 1].long(), attack_type=file["attack_type"][g:g + 1].long()))
    return graphs


def tensor_bytes(batch):
    return sum(value.numel() * value.element_size() for value in batch.to_dict().values()
               if torch.is_tensor(value))


def main(source, count, max_nodes, seconds):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if source.endswith(".safetensors"):
        graphs = read(source, int(count))
    else:
        graphs = made(*map(int, source.split(",")), int(count))
    size = max(1, int(max_nodes) * len(graphs) // sum(graph.num_nodes for graph in graphs))
    size = min(size, len(graphs))
    done, moved, spent = 0, 0, 0.0
    Batch.from_data_list(graphs[:size])
    while spent < float(seconds):
        taken = [graphs[i] for i in torch.randperm(len(graphs))[:size].tolist()]
        begin = time.monotonic()
        batch = Batch.from_data_list(taken)
        spent += time.monotonic() - begin
        done += size
        moved += tensor_bytes(batch)
    answer(graphs_per_s=done / spent, bytes_per_s=moved / spent, batch=size,
           torch=torch.__version__, torch_geometric=torch_geometric.__version__,
           peak_bytes=peak_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
