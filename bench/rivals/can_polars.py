#!/usr/bin/env python3
"""CAN logs to window graphs with Polars: the 35 node and 11 edge features of docs/can-graphs.md.

can_polars.py DIR OUT THREADS: reads DIR/*/**/*.csv (four columns, captures merged, windows of 100
frames), writes x, edge_attr, edge_index, node_id, y, node_ptr, edge_ptr and window_start as a
safetensors file OUT, graphs by (nodes, window), and prints frames, graphs, seconds and peak
memory.
"""
import glob
import os
import sys
import time

if len(sys.argv) > 3:
    os.environ["POLARS_MAX_THREADS"] = sys.argv[3]  # read when Polars is imported

import numpy as np
import polars as pl
from safetensors.numpy import save_file

from common import answer, peak_bytes

WINDOW = 100
BYTES = [f"b{k}" for k in range(8)]
C = pl.col


def read(folder):
    """All frames by time, numbered, in complete windows, with their bytes and entropy."""
    paths = sorted(glob.glob(f"{folder}/*/**/*.csv", recursive=True))
    parts = [pl.scan_csv(path, schema_overrides={
        "timestamp": pl.Float64, "arbitration_id": pl.String, "data_field": pl.String,
        "attack": pl.Int64}) for path in paths]
    frames = pl.concat(parts).sort("timestamp", maintain_order=True).with_row_index("row")
    text = C("data_field").fill_null("")
    values = [text.str.slice(2 * k, 2).str.to_integer(base=16, strict=False).fill_null(0)
              .cast(pl.Float32).alias(name) for k, name in enumerate(BYTES)]
    frames = frames.with_columns(values)
    total = pl.max_horizontal(pl.sum_horizontal(BYTES), pl.lit(1e-12, pl.Float32))
    share = [C(name) / total for name in BYTES]
    terms = [pl.when(C(name) > 0).then(-p * p.log()).otherwise(0.0)
             for name, p in zip(BYTES, share)]
    frames = frames.with_columns(
        pl.sum_horizontal(terms).alias("entropy"), (C("row") // WINDOW).alias("window"),
        (C("row") % WINDOW).alias("place"))
    return frames.drop("data_field").collect()


def number_ids(frames):
    ids = frames["arbitration_id"].unique().sort()
    table = pl.DataFrame({"arbitration_id": ids, "id": np.arange(1, len(ids) + 1, dtype=np.int32)})
    frames = frames.join(table, on="arbitration_id", how="left", maintain_order="left")
    whole = frames.height // WINDOW * WINDOW
    return frames.drop("arbitration_id").head(whole)


def per_byte(make):
    return [make(name) for name in BYTES]


def node_table(frames):
    def moment(name, kind):
        found = C(name).skew() if kind == "skew" else C(name).kurtosis()
        return found.fill_nan(0).fill_null(0).clip(-10, 10)

    gap = C("timestamp").diff()
    changes = pl.sum_horizontal(per_byte(lambda b: (C(b) != C(b).shift(1)).sum())) / 8
    return frames.lazy().group_by("window", "id").agg(
        *per_byte(lambda b: C(b).mean().alias(f"{b}_mean")),
        *per_byte(lambda b: C(b).std().fill_null(0).alias(f"{b}_std")),
        *per_byte(lambda b: (C(b).max() - C(b).min()).alias(f"{b}_range")),
        pl.len().cast(pl.Float32).alias("count"),
        C("entropy").mean().alias("entropy"),
        (pl.sum_horizontal(per_byte(lambda b: moment(b, "skew"))) / 8).alias("skewness"),
        (pl.sum_horizontal(per_byte(lambda b: moment(b, "kurtosis"))) / 8).alias("kurtosis"),
        (C("place") < WINDOW // 2).mean().alias("first_half"),
        (changes / (pl.len() - 1)).alias("changes"),
        gap.mean().fill_null(0).alias("gap_mean"), gap.std().fill_null(0).alias("gap_std"))


def edge_table(frames):
    """Steps from frame to frame within windows; features are those of the step before."""
    edges = frames.lazy().select(
        "window", "place", C("id").alias("source"), C("id").shift(-1).alias("target"),
        (C("timestamp") - C("timestamp").shift(1)).alias("gap"),
        *per_byte(lambda b: (C(b) - C(b).shift(1)).abs().alias(b)))
    edges = edges.filter((C("place") > 0) & (C("place") < WINDOW - 1))
    pair = edges.group_by("window", "source", "target").agg(pl.len().alias("frequency"))
    back = pair.select("window", C("source").alias("target"), C("target").alias("source"),
                       pl.lit(1.0).alias("both"))
    pair = pair.join(back, on=["window", "source", "target"], how="left").with_columns(
        C("both").fill_null(0.0))
    return edges.join(pair, on=["window", "source", "target"], how="left").collect()


def clustering_table(edges):
    """The clustering coefficient, self-loops counted: docs/can-graphs.md."""
    pairs = edges.lazy().select("window", "source", "target").unique()
    loops = pairs.filter(C("source") == C("target")).select("window", C("source").alias("id"))
    there = pairs.filter(C("source") != C("target"))
    near = pl.concat([there, there.select("window", C("target").alias("source"),
                                          C("source").alias("target"))]).unique()
    k = near.group_by("window", C("source").alias("id")).agg(pl.len().alias("k"))
    q = near.join(loops, left_on=["window", "target"], right_on=["window", "id"], how="semi")
    q = q.group_by("window", C("source").alias("id")).agg(pl.len().alias("q"))
    paths = near.join(near, left_on=["window", "target"], right_on=["window", "source"])
    closed = paths.join(near, left_on=["window", "source", "target_right"],
                        right_on=["window", "source", "target"], how="semi")
    t = closed.group_by("window", C("source").alias("id")).agg(pl.len().alias("t2"))
    keys = ["window", "id"]
    nodes = pl.concat([k.select(keys), loops]).unique()
    nodes = nodes.join(k, on=keys, how="left").join(q, on=keys, how="left")
    nodes = nodes.join(t, on=keys, how="left").join(loops.with_columns(pl.lit(1).alias("l")),
                                                    on=keys, how="left")
    nodes = nodes.with_columns(C("k", "q", "t2", "l").fill_null(0).cast(pl.Float64))
    d = C("k") + C("l")
    value = (C("t2") + C("l") * C("k") + C("q")) / (d * (d - 1))
    return nodes.select(*keys, pl.when(d > 1).then(value).otherwise(0.0).alias("clustering"))


def with_graph_columns(nodes, edges):
    keys = ["window", "id"]
    for name, end in (("in", "target"), ("out", "source")):
        degree = edges.lazy().group_by("window", C(end).alias("id")).agg(pl.len().alias(name))
        nodes = nodes.join(degree, on=keys, how="left")
    return nodes.join(clustering_table(edges), on=keys, how="left")


COLUMNS = ([f"{b}_mean" for b in BYTES] + [f"{b}_std" for b in BYTES] +
           [f"{b}_range" for b in BYTES] +
           ["count", "entropy", "skewness", "kurtosis", "clustering", "first_half", "changes",
            "gap_mean", "gap_std", "in", "out"])


def features(frames):
    """Tensors of all windows, graphs by (nodes, window), nodes by id, edges by time."""
    edges = edge_table(frames)
    nodes = with_graph_columns(node_table(frames), edges)
    nodes = nodes.with_columns(pl.len().over("window").alias("nodes"))
    nodes = nodes.sort("nodes", "window", "id").with_columns(
        C(COLUMNS).cast(pl.Float32).fill_nan(0).fill_null(0),
        C("id").rank("ordinal").over("window").cast(pl.Int32).alias("local")).collect()
    local = nodes.lazy().select("window", "id", C("local") - 1, "nodes")
    for end in ("source", "target"):
        edges = edges.lazy().join(local.rename({"id": end, "local": f"{end}_local",
                                                "nodes": f"{end}_nodes"}),
                                  on=["window", end], how="left").collect()
    edges = edges.sort("source_nodes", "window", "place")
    labels = frames.lazy().group_by("window").agg((C("attack") > 0).any().cast(pl.Int32).alias("y"))
    graphs = nodes.lazy().group_by("window", maintain_order=True).agg(pl.len().alias("nodes"))
    graphs = graphs.join(labels, on="window", how="left", maintain_order="left").collect()
    attributes = ["gap", *BYTES, "both", "frequency"]
    count = graphs.height
    return {
        "x": nodes.select(COLUMNS).to_numpy(order="c"),
        "node_id": nodes["id"].to_numpy().copy(),
        "edge_attr": np.ascontiguousarray(edges.select(attributes).cast(pl.Float32).to_numpy()),
        "edge_index": np.stack([edges[f"{end}_local"].to_numpy() for end in ("source", "target")]),
        "y": graphs["y"].to_numpy().copy(),
        "node_ptr": np.concatenate([[0], np.cumsum(graphs["nodes"].to_numpy())]).astype(np.int64),
        "edge_ptr": np.arange(count + 1, dtype=np.int64) * (WINDOW - 2),
        "window_start": graphs["window"].to_numpy().astype(np.int64) * WINDOW,
    }


def main(folder, out, *_):
    begun = time.monotonic()
    frames = number_ids(read(folder))
    tensors = features(frames)
    save_file({name: np.ascontiguousarray(values) for name, values in tensors.items()}, out)
    answer(frames=frames.height, graphs=len(tensors["y"]), window=WINDOW,
           seconds=time.monotonic() - begun, peak_bytes=peak_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
