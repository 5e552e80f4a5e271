"""MaxText trains a small decoder on leat's batches, on a CPU in a minute.

    DECOUPLE_GCLOUD=TRUE JAX_PLATFORMS=cpu python train_maxtext.py probes out

Checkpoints go to OUT/run. The same command resumes a run that was killed, with the same batches and
the same losses. Further arguments are settings of MaxText or leat (docs/maxtext.md) and override
those below. Needs MaxText 0.2.5 and Python 3.12 or newer.
"""
import sys

SETTINGS = """hardware=cpu run_name=run enable_tensorboard=False log_config=False base_emb_dim=64
 base_num_query_heads=4 base_num_kv_heads=4 head_dim=16 base_mlp_dim=128 base_num_decoder_layers=2
 vocab_size=267 max_target_length=128 steps=8 learning_rate=0.01
 learning_rate_schedule_steps=100 enable_checkpointing=True async_checkpointing=False
 checkpoint_period=2 data_shuffle_seed=5 dataset_type=network""".split()
ONE_PROCESS = ["skip_jax_distributed_system=True", "per_device_batch_size=4"]


def main(data, out, *words):
    from leat.maxtext import launch
    launch.main([*SETTINGS, *ONE_PROCESS, f"network_train_files={data}",
                 f"base_output_directory={out}", *words])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: train_maxtext.py DATA OUT [KEY=VALUE...]")
    main(*sys.argv[1:])
