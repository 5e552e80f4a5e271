"""Products, convolutions and the DCGAN's unit with PyTorch on the CPU.

torch_nn.py figures MILLISECONDS IMAGES FIGURE...: figures of bench/nn.c in one thread; of a
convolution the faster of contiguous and channels_last tensors. Prints GFLOP/s.

torch_nn.py unit VARIANT FORMAT THREADS IMAGES BATCHES: BATCHES micro-batches of IMAGES, gradients
accumulated, no optimizer. FORMAT is contiguous or channels_last. Prints images/s and memory.
VARIANT source: what the workers of GANNs-with-friends compute for a micro-batch: D(real)
backward, D(fake, detached) backward, then D(fake) again, backward through D into G; the last one
also adds to D's gradients.
VARIANT fair: D(fake) is computed once for both losses, and the generator's pass computes no
gradient of D's weights: the same work as leat's.

torch_nn.py train VARIANT FORMAT THREADS STEPS SEED IMAGES [OUT]: a whole training, 64 images a
step, Adam for both networks at the same weights, batches from IMAGES, the images.safetensors of a
data set, held in memory. Writes the weights to OUT, by the names of a checkpoint.
"""
import os
import statistics
import sys
import time

THREADS = int(sys.argv[4]) if sys.argv[1] in ("unit", "train") else 1
os.environ["OMP_NUM_THREADS"] = str(THREADS)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.functional import (  # noqa: E402
    binary_cross_entropy_with_logits as bce, conv2d, conv_transpose2d)

from safetensors.torch import load_file, save_file  # noqa: E402

from common import answer, peak_bytes  # noqa: E402

FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}
LATENT, WIDTH = 100, 64


# ---- figures --------------------------------------------------------------------------------

def gflops(flops, budget, run):
    """As in bench/nn.c: the median of the runs after one that is not counted."""
    run()
    took, end = [], time.perf_counter() + budget
    while not took or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        took.append(time.perf_counter() - begin)
    return flops / statistics.median(took) * 1e-9


def product(name, size, budget):
    rows, columns, depth = size
    a, b = torch.rand(rows, depth) - 0.5, torch.rand(depth, columns) - 0.5
    c = torch.empty(rows, columns)
    return {name: gflops(2 * rows * columns * depth, budget, lambda: torch.mm(a, b, out=c))}


def conv_kind(size, images, transposed, form, budget):
    narrow_channels, wide_channels, side = size
    wide = torch.rand(images, wide_channels, side, side) - 0.5
    narrow = torch.rand(images, narrow_channels, side // 2, side // 2) - 0.5
    weights = torch.rand(narrow_channels, wide_channels, 4, 4) - 0.5
    wide, narrow, weights = (each.contiguous(memory_format=FORMATS[form])
                             for each in (wide, narrow, weights))
    source, up = (narrow, wide) if transposed else (wide, narrow)
    forward = conv_transpose2d if transposed else conv2d

    def backward(of_input, of_weights):
        torch.ops.aten.convolution_backward(up, source, weights, None, [2, 2], [1, 1], [1, 1],
                                            transposed, [0, 0], 1, [of_input, of_weights, False])

    flops = 2 * weights.numel() * (side // 2) ** 2 * images
    return {"forward": gflops(flops, budget,
                              lambda: forward(source, weights, stride=2, padding=1)),
            "input": gflops(flops, budget, lambda: backward(True, False)),
            "weights": gflops(flops, budget, lambda: backward(False, True))}


def conv(name, size, images, budget):
    found = {}
    for kind in ("conv", "transposed"):
        of = {form: conv_kind(size, images, kind == "transposed", form, budget)
              for form in FORMATS}
        for way in ("forward", "input", "weights"):
            best = max(FORMATS, key=lambda form, w=way, o=of: o[form][w])
            found[f"{name}/{kind}/{way}"] = of[best][way]
            found[f"{name}/{kind}/{way}/format"] = best
    return found


def figures(milliseconds, images, *names):
    found = {}
    with torch.inference_mode():
        for name in names:
            kind, *size = name.split(":")
            size = list(map(int, size))
            if kind == "product":
                found.update(product(name, size, int(milliseconds) * 1e-3))
            else:
                found.update(conv(name, size, int(images), int(milliseconds) * 1e-3))
    answer(torch=torch.__version__, instructions=torch.backends.cpu.get_cpu_capability(), **found)


# ---- the unit -------------------------------------------------------------------------------

def generator():
    channels, layers = LATENT, []
    for i, to in enumerate((8 * WIDTH, 4 * WIDTH, 2 * WIDTH, WIDTH)):
        layers += [nn.ConvTranspose2d(channels, to, 4, 2 if i else 1, 1 if i else 0, bias=False),
                   nn.BatchNorm2d(to), nn.ReLU(True)]
        channels = to
    return nn.Sequential(*layers, nn.ConvTranspose2d(channels, 3, 4, 2, 1, bias=False), nn.Tanh())


def discriminator():
    layers = [nn.Conv2d(3, WIDTH, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True)]
    for factor in (1, 2, 4):
        layers += [nn.Conv2d(factor * WIDTH, 2 * factor * WIDTH, 4, 2, 1, bias=False),
                   nn.BatchNorm2d(2 * factor * WIDTH), nn.LeakyReLU(0.2, True)]
    return nn.Sequential(*layers, nn.Conv2d(8 * WIDTH, 1, 4, 1, 0, bias=False))


def first_values(layer):
    if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(layer.weight, 0.0, 0.02)
    elif isinstance(layer, nn.BatchNorm2d):
        nn.init.normal_(layer.weight, 1.0, 0.02)
        nn.init.zeros_(layer.bias)


def as_source(g, d, real, noise):
    out = d(real).view(-1)
    bce(out, torch.ones_like(out)).backward()
    fake = g(noise)
    out = d(fake.detach()).view(-1)
    bce(out, torch.zeros_like(out)).backward()
    out = d(fake).view(-1)
    bce(out, torch.ones_like(out)).backward()


def accumulate(parameters, gradients):
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)


def without_redundant_work(g, d, real, noise):
    of_g, of_d = list(g.parameters()), list(d.parameters())
    out = d(real).view(-1)
    bce(out, torch.ones_like(out)).backward()
    out = d(g(noise)).view(-1)
    loss = bce(out, torch.zeros_like(out))
    accumulate(of_d, torch.autograd.grad(loss, of_d, retain_graph=True))
    accumulate(of_g, torch.autograd.grad(bce(out, torch.ones_like(out)), of_g))


def unit(variant, form, _, images, batches):
    images, batches = int(images), int(batches)
    step = {"source": as_source, "fair": without_redundant_work}[variant]
    g = generator().apply(first_values).to(memory_format=FORMATS[form])
    d = discriminator().apply(first_values).to(memory_format=FORMATS[form])
    real = [(torch.rand(images, 3, 64, 64) * 2 - 1).contiguous(memory_format=FORMATS[form])
            for _ in range(batches)]
    noise = [torch.randn(images, LATENT, 1, 1) for _ in range(batches)]
    step(g, d, real[0], noise[0])  # not counted
    for model in (g, d):
        model.zero_grad(set_to_none=False)
    begin = time.perf_counter()
    for x, z in zip(real, noise, strict=True):
        step(g, d, x, z)
    took = time.perf_counter() - begin
    answer(images_per_s=images * batches / took, peak_bytes=peak_bytes(), torch=torch.__version__,
           gradient=sum(float(p.grad.abs().sum()) for p in g.parameters()) / batches)


# ---- a training -----------------------------------------------------------------------------

def batches_of(images, steps, form):
    """Floats [64, 3, 64, 64] of each step: all images in a new order each epoch, in full batches
    that continue in the next epoch."""
    order = torch.randperm(len(images))
    for _ in range(steps):
        while len(order) < 64:
            order = torch.cat([order, torch.randperm(len(images))])
        batch, order = images[order[:64]], order[64:]
        yield ((batch.permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5).contiguous(
            memory_format=FORMATS[form])


def train(variant, form, _, steps, seed, path, out=""):
    torch.manual_seed(int(seed))
    begin = time.perf_counter()
    images = load_file(path)["images"]
    step = {"source": as_source, "fair": without_redundant_work}[variant]
    g = generator().apply(first_values).to(memory_format=FORMATS[form])
    d = discriminator().apply(first_values).to(memory_format=FORMATS[form])
    optimizers = [torch.optim.Adam(model.parameters(), lr=2e-4, betas=(0.5, 0.999))
                  for model in (g, d)]
    for x in batches_of(images, int(steps), form):
        for optimizer in optimizers:
            optimizer.zero_grad()
        step(g, d, x, torch.randn(64, LATENT, 1, 1))
        for optimizer in optimizers:
            optimizer.step()
    took = time.perf_counter() - begin
    named = {f"{name}.main.{key}": value.contiguous() for name, model in (("G", g), ("D", d))
             for key, value in model.state_dict().items() if "num_batches" not in key}
    if out:
        save_file(named, out)
    answer(images_per_s=64 * int(steps) / took, seconds=took, peak_bytes=peak_bytes(),
           torch=torch.__version__)


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    {"figures": figures, "unit": unit, "train": train}[sys.argv[1]](*sys.argv[2:])
