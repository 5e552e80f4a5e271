"""The C API of include/leat/*.h for ctypes: what the modules beside it use.

Written by scripts/python_abi.py: after a change of the headers, or of what is used, run it again.
Nothing here opens the library.
"""
from __future__ import annotations

import ctypes as c
from typing import Any

_code = c.c_int  # leat_code, whose failures _library.call raises
_handle = c.c_void_p

MARK_PAGE = 1
VERSION_NUMBER = 100
WARNING_BYTES = 256
NODE_FEATURES = 35
EDGE_FEATURES = 11
THRESHOLD_NOTE_BYTES = 256
LOADER_STATE_BYTES = 257
# the members of enum leat_<name>, numbered from 0
ENUMS: dict[str, tuple[str, ...]] = {
    "CODE": ("OK", "ERR_MEMORY", "ERR_IO", "ERR_NOT_FOUND", "ERR_CORRUPT", "ERR_INPUT",
        "ERR_OPTION", "ERR_UNSUPPORTED", "ERR_LIMIT", "ERR_NO_SPACE", "ERR_EXISTS",
        "ERR_CANCELLED", "ERR_BUSY", "ERR_CONNECTION"),
    "IMAGE_VALUES": ("U8", "FLOAT"),
    "SCALE": ("STORED", "NONE"),
    "SPLIT": ("TRAIN", "TEST", "NONE"),
}


class Error(c.Structure):
    """leat_error"""
    _fields_ = [
        ("code", _code), ("message", c.c_char * 512),
    ]


_error = c.POINTER(Error)


class BuildItem(c.Structure):
    """leat_build_item"""
    _fields_ = [
        ("group", c.c_char_p), ("name", c.c_char_p), ("value", c.c_char * 96),
    ]


class Measurement(c.Structure):
    """leat_measurement"""
    _fields_ = [
        ("time_us", c.c_int64), ("src", c.c_void_p), ("dst", c.c_void_p), ("src_size", c.c_int32),
        ("dst_size", c.c_int32), ("ip_version", c.c_int), ("rtt", c.c_float),
        ("src_bytes", c.c_uint8 * 16), ("dst_bytes", c.c_uint8 * 16),
    ]


class SamplerOptions(c.Structure):
    """leat_sampler_options"""
    _fields_ = [
        ("sampler", c.c_int), ("length", c.c_int32), ("seed", c.c_uint64),
        ("timestamp_modes", c.c_int * 3), ("field_order", c.c_int), ("packing", c.c_int),
        ("tail", c.c_int), ("boundary", c.c_int),
    ]


class GraphBatchOptions(c.Structure):
    """leat_graph_batch_options"""
    _fields_ = [
        ("pack", c.c_int), ("batch", c.c_int64), ("max_nodes", c.c_int64),
        ("max_edges", c.c_int64), ("oversize", c.c_int), ("min_steps", c.c_int64),
        ("seed", c.c_uint64), ("curriculum", c.c_int), ("tiers", c.c_int64),
        ("curriculum_start", c.c_double), ("curriculum_end", c.c_double), ("epochs", c.c_int64),
        ("preset", c.c_int), ("graphs", c.c_int), ("window_bytes", c.c_int64),
    ]


class GraphMemory(c.Structure):
    """leat_graph_memory"""
    _fields_ = [
        ("parameters", c.c_int64), ("fixed_bytes", c.c_int64), ("node_bytes", c.c_int64),
        ("edge_bytes", c.c_int64), ("graph_bytes", c.c_int64),
    ]


class GraphTotals(c.Structure):
    """leat_graph_totals"""
    _fields_ = [
        ("nodes", c.c_int64), ("edges", c.c_int64), ("nodes_least", c.c_int64),
        ("nodes_most", c.c_int64), ("edges_most", c.c_int64),
    ]


class Value(c.Structure):
    """leat_value"""
    _fields_ = [
        ("name", c.c_char_p), ("label", c.c_char_p), ("better", c.c_int), ("figure", c.c_char_p),
        ("axis", c.c_char_p), ("sum", c.c_char_p),
    ]


class TrainWarning(c.Structure):
    """leat_train_warning"""
    _fields_ = [
        ("name", c.c_char_p), ("what", c.c_char_p), ("why", c.c_char_p), ("step", c.c_int64),
        ("over", c.c_int64),
    ]


class TrainReference(c.Structure):
    """leat_train_reference"""
    _fields_ = [
        ("name", c.c_char_p), ("value", c.c_double),
    ]


class RunFacts(c.Structure):
    """leat_run_facts"""
    _fields_ = [
        ("path", c.c_char_p), ("model", c.c_char_p), ("run", c.c_char_p), ("data", c.c_char_p),
        ("one", c.c_char_p), ("many", c.c_char_p), ("samples", c.c_int64),
        ("sample_size", c.c_int32), ("init", c.c_char_p), ("kernel_class", c.c_char_p),
        ("model_hash", c.c_char_p), ("leat_version", c.c_char_p), ("reference", TrainReference),
        ("checkpoint_count", c.c_int),
    ]


class RunCheckpoint(c.Structure):
    """leat_run_checkpoint"""
    _fields_ = [
        ("step", c.c_int64), ("state", c.c_char_p), ("path", c.c_char * 4096),
        ("measures", c.POINTER(Value)), ("measured", c.c_double * 8), ("best", c.c_bool),
    ]


class RunPoint(c.Structure):
    """leat_run_point"""
    _fields_ = [
        ("step", c.c_int64), ("seconds", c.c_double), ("values", c.c_double * 16),
    ]


class RunMeasurement(c.Structure):
    """leat_run_measurement"""
    _fields_ = [
        ("step", c.c_int64), ("values", c.c_double * 8),
    ]


class RunMetrics(c.Structure):
    """leat_run_metrics"""
    _fields_ = [
        ("last_step", c.c_int64), ("names", c.POINTER(Value)), ("measures", c.POINTER(Value)),
        ("points", c.POINTER(RunPoint)), ("point_count", c.c_int64),
        ("measurements", c.POINTER(RunMeasurement)), ("measurement_count", c.c_int64),
        ("warnings", TrainWarning * 4), ("best_measure", c.c_int), ("best_step", c.c_int64),
        ("best", c.c_double),
    ]


class RunSampleOptions(c.Structure):
    """leat_run_sample_options"""
    _fields_ = [
        ("step", c.c_int64), ("seed", c.c_uint64), ("run_seed", c.c_bool), ("first", c.c_int64),
        ("count", c.c_int64), ("threads", c.c_int32), ("kernels", c.c_char_p),
        ("replace", c.c_bool),
    ]


class EvalNumber(c.Structure):
    """leat_eval_number"""
    _fields_ = [
        ("value", c.c_double), ("undefined", c.c_int),
    ]


class EvalInterval(c.Structure):
    """leat_eval_interval"""
    _fields_ = [
        ("low", c.c_double), ("high", c.c_double), ("undefined", c.c_int),
    ]


class EvalWindows(c.Structure):
    """leat_eval_windows"""
    _fields_ = [
        ("count", c.c_int64), ("window", c.c_int64), ("stride", c.c_int64), ("score", c.c_void_p),
        ("label", c.c_void_p), ("attack", c.c_void_p), ("vehicle", c.c_void_p),
        ("capture", c.c_void_p), ("start", c.c_void_p), ("attack_first", c.c_void_p),
        ("seconds", c.c_void_p), ("injected_seconds", c.c_void_p),
    ]


class Threshold(c.Structure):
    """leat_threshold"""
    _fields_ = [
        ("value", c.c_double), ("rule", c.c_int), ("split", c.c_char_p), ("benign", c.c_int64),
        ("attacks", c.c_int64), ("target_fpr", c.c_double), ("allowed", c.c_int64),
        ("exceeding", c.c_int64), ("f1", c.c_double),
    ]


class EvalCounts(c.Structure):
    """leat_eval_counts"""
    _fields_ = [
        ("true_positives", c.c_int64), ("false_positives", c.c_int64),
        ("false_negatives", c.c_int64), ("true_negatives", c.c_int64),
    ]


class EvalPoint(c.Structure):
    """leat_eval_point"""
    _fields_ = [
        ("score", c.c_double), ("true_positives", c.c_int64), ("false_positives", c.c_int64),
    ]


class EvalTime(c.Structure):
    """leat_eval_time"""
    _fields_ = [
        ("seconds", c.c_double), ("benign_seconds", c.c_double),
    ]


class EvalDelay(c.Structure):
    """leat_eval_delay"""
    _fields_ = [
        ("attacked", c.c_bool), ("detected", c.c_bool), ("first_injected", c.c_int64),
        ("alarm_start", c.c_int64), ("is_attack", c.c_bool), ("frames", c.c_int64),
        ("ms", c.c_double),
    ]


class EvalDetections(c.Structure):
    """leat_eval_detections"""
    _fields_ = [
        ("count", c.c_int64), ("detected", c.c_int64), ("median_frames", EvalNumber),
        ("median_ms", EvalNumber),
    ]


class EvalGroup(c.Structure):
    """leat_eval_group"""
    _fields_ = [
        ("kind", c.c_int), ("number", c.c_int32), ("windows", c.c_int64),
        ("attack_windows", c.c_int64), ("counts", EvalCounts), ("time", EvalTime),
        ("metrics", EvalNumber * 11), ("intervals", EvalInterval * 11),
        ("recall_wilson", EvalInterval), ("fpr_wilson", EvalInterval),
        ("per_hour_poisson", EvalInterval), ("per_benign_hour_poisson", EvalInterval),
        ("ece", EvalNumber), ("captures", EvalDetections), ("episodes", EvalDetections),
        ("delay", EvalDelay), ("gap_to_threshold", c.c_double),
    ]


class EvalSummary(c.Structure):
    """leat_eval_summary"""
    _fields_ = [
        ("unlabelled", c.c_int64), ("group_count", c.c_int64), ("groups", c.POINTER(EvalGroup)),
    ]


class BootstrapOptions(c.Structure):
    """leat_bootstrap_options"""
    _fields_ = [
        ("seed", c.c_uint64), ("replicates", c.c_int64), ("block_windows", c.c_int64),
    ]


ProgressFn = c.CFUNCTYPE(c.c_bool, c.c_void_p, _handle)


class EvaluationOptions(c.Structure):
    """leat_evaluation_options"""
    _fields_ = [
        ("threshold", c.c_int), ("target_fpr", c.c_double), ("score", c.c_int),
        ("split", c.c_char_p), ("step", c.c_int64), ("bootstrap", BootstrapOptions),
        ("curve_points", c.c_int64), ("threads", c.c_int32), ("kernels", c.c_char_p),
        ("keep", c.c_bool), ("progress", ProgressFn), ("user", c.c_void_p),
    ]


class EvaluatedRun(c.Structure):
    """leat_evaluated_run"""
    _fields_ = [
        ("path", c.c_char_p), ("model", c.c_char_p), ("run", c.c_char_p), ("data", c.c_char_p),
        ("step", c.c_int64), ("state", c.c_char_p), ("best", c.c_bool), ("measure", c.c_char_p),
        ("measured", c.c_double), ("train_graphs", c.c_int64), ("val_graphs", c.c_int64),
        ("reused", c.c_bool),
    ]


class EvaluationMethod(c.Structure):
    """leat_evaluation_method"""
    _fields_ = [
        ("name", c.c_char_p), ("score", c.c_char_p), ("run", c.c_int), ("probability", c.c_bool),
        ("threshold", Threshold),
    ]


class BlameCount(c.Structure):
    """leat_blame_count"""
    _fields_ = [
        ("number", c.c_int32), ("text", c.c_char_p), ("windows", c.c_int64),
        ("attack_windows", c.c_int64),
    ]


class BlameShare(c.Structure):
    """leat_blame_share"""
    _fields_ = [
        ("attack", c.c_int32), ("detected", c.c_int64), ("known", c.c_int64),
        ("right", c.c_int64), ("share", EvalNumber), ("wilson", EvalInterval),
    ]


class EvaluationResult(c.Structure):
    """leat_evaluation_result"""
    _fields_ = [
        ("summary", c.POINTER(EvalSummary)), ("curve", c.POINTER(EvalPoint)),
        ("curve_count", c.c_int64), ("identifiers", c.POINTER(BlameCount)),
        ("features", c.POINTER(BlameCount)), ("identifier_count", c.c_int64),
        ("feature_count", c.c_int64), ("shares", c.POINTER(BlameShare)),
        ("share_count", c.c_int64),
    ]


class EvaluationSpread(c.Structure):
    """leat_evaluation_spread"""
    _fields_ = [
        ("mean", EvalNumber * 11), ("deviation", EvalNumber * 11),
    ]


class EvaluationSplit(c.Structure):
    """leat_evaluation_split"""
    _fields_ = [
        ("name", c.c_char_p), ("windows", EvalWindows), ("scores", c.POINTER(c.c_void_p)),
        ("blamed_identifiers", c.POINTER(c.c_void_p)), ("blamed_features", c.POINTER(c.c_void_p)),
        ("unlabelled", c.c_int64), ("unknown_windows", c.c_int64),
        ("results", c.POINTER(EvaluationResult)), ("spread", c.POINTER(EvaluationSpread)),
    ]


class Evaluation(c.Structure):
    """leat_evaluation"""
    _fields_ = [
        ("cache", c.c_char_p), ("fingerprint", c.c_char_p), ("dataset", c.c_char_p),
        ("score", c.c_int), ("run_count", c.c_int), ("runs", c.POINTER(EvaluatedRun)),
        ("method_count", c.c_int), ("methods", c.POINTER(EvaluationMethod)),
        ("split_count", c.c_int), ("splits", c.POINTER(EvaluationSplit)), ("note", c.c_char_p),
    ]


class ProbeAddress(c.Structure):
    """leat_probe_address"""
    _fields_ = [
        ("bytes", c.c_uint8 * 16), ("text", c.c_char * 46), ("text_bytes", c.c_uint8),
        ("version", c.c_uint8),
    ]


class Measurements(c.Structure):
    """leat_measurements"""
    _fields_ = [
        ("count", c.c_int64), ("time_us", c.c_void_p), ("src", c.c_void_p), ("dst", c.c_void_p),
        ("ip_version", c.c_void_p), ("rtt", c.c_void_p), ("addresses", c.POINTER(ProbeAddress)),
        ("address_count", c.c_int64), ("room", _handle),
    ]


class DatasetOptions(c.Structure):
    """leat_dataset_options"""
    _fields_ = [
        ("cache_bytes", c.c_int64), ("addresses", c.c_char_p), ("memory_bytes", c.c_int64),
    ]


class DatasetFacts(c.Structure):
    """leat_dataset_facts"""
    _fields_ = [
        ("indexed", c.c_bool), ("compressed", c.c_bool), ("shard_count", c.c_int64),
        ("row_count", c.c_int64), ("measurement_count", c.c_int64), ("file_bytes", c.c_int64),
        ("first_us", c.c_int64), ("last_us", c.c_int64), ("split_shards", c.c_int64 * 3),
        ("split_rows", c.c_int64 * 3), ("probe", c.c_char_p),
    ]


class DatasetShard(c.Structure):
    """leat_dataset_shard"""
    _fields_ = [
        ("name", c.c_char_p), ("split", c.c_int), ("first_row", c.c_int64),
        ("row_count", c.c_int64), ("measurement_count", c.c_int64), ("file_bytes", c.c_int64),
        ("first_us", c.c_int64), ("last_us", c.c_int64),
    ]


class RowFacts(c.Structure):
    """leat_row_facts"""
    _fields_ = [
        ("src_id", c.c_int64), ("n_measurements", c.c_int64), ("first_us", c.c_int64),
        ("last_us", c.c_int64), ("ip_version", c.c_int), ("shard", c.c_int64),
        ("record_index", c.c_int64), ("record_bytes", c.c_int64),
    ]


class LoaderOptions(c.Structure):
    """leat_loader_options"""
    _fields_ = [
        ("sample", SamplerOptions), ("split", c.c_int), ("batch", c.c_int64),
        ("host_index", c.c_int64), ("host_count", c.c_int64), ("rows", c.c_void_p),
        ("row_count", c.c_int64), ("epochs", c.c_int64), ("by_client", c.c_bool),
        ("client_weights", c.c_char_p), ("clients_per_round", c.c_int64),
        ("steps_per_round", c.c_int64), ("threads", c.c_int), ("prefetch", c.c_int64),
        ("memory_bytes", c.c_int64), ("io", c.c_int), ("on_corrupt", c.c_int),
        ("window_bytes", c.c_int64),
    ]


class Batch(c.Structure):
    """leat_batch"""
    _fields_ = [
        ("step", c.c_int64), ("row_count", c.c_int64), ("length", c.c_int64),
        ("rows", c.c_void_p), ("inputs", c.c_void_p), ("targets", c.c_void_p),
        ("inputs_position", c.c_void_p), ("targets_position", c.c_void_p),
        ("inputs_segmentation", c.c_void_p), ("targets_segmentation", c.c_void_p),
    ]


class LoaderCounters(c.Structure):
    """leat_loader_counters"""
    _fields_ = [
        ("batches", c.c_int64), ("sequences", c.c_int64), ("masked", c.c_int64),
        ("tokens", c.c_int64), ("padding", c.c_int64), ("segments", c.c_int64),
        ("measurements", c.c_int64), ("dropped", c.c_int64), ("payload_bytes", c.c_int64),
        ("stall_ns", c.c_int64), ("work_ns", c.c_int64), ("memory_bytes", c.c_int64),
        ("prefetch", c.c_int64), ("read_wait_ns", c.c_int64), ("window_bytes", c.c_int64),
    ]


class Quarantined(c.Structure):
    """leat_quarantined"""
    _fields_ = [
        ("shard", c.c_char * 256), ("row", c.c_int64), ("record_index", c.c_int64),
        ("byte", c.c_int64), ("reason", c.c_char * 512),
    ]


class ExplainedMeasurement(c.Structure):
    """leat_explained_measurement"""
    _fields_ = [
        ("index", c.c_int64), ("time_us", c.c_int64), ("stamped", c.c_bool), ("cut", c.c_bool),
    ]


class ExplainedSegment(c.Structure):
    """leat_explained_segment"""
    _fields_ = [
        ("row", c.c_int64), ("shard", c.c_int64), ("record_index", c.c_int64),
        ("src_id", c.c_int64), ("row_measurements", c.c_int64), ("context", c.c_int64),
        ("time_mode", c.c_char_p), ("window_first", c.c_int64), ("window_count", c.c_int64),
        ("window_stride", c.c_int64), ("token_first", c.c_int64), ("token_count", c.c_int64),
        ("measurement_first", c.c_int64), ("measurement_count", c.c_int64), ("drawn", c.c_int64),
    ]


class Explanation(c.Structure):
    """leat_explanation"""
    _fields_ = [
        ("step", c.c_int64), ("row", c.c_int64), ("sequence", c.c_int64), ("epoch", c.c_int64),
        ("position", c.c_int64), ("anchor", c.c_int64), ("past_end", c.c_bool),
        ("masked", c.c_bool), ("reason", c.c_char * 512),
        ("segments", c.POINTER(ExplainedSegment)), ("segment_count", c.c_int64),
        ("measurements", c.POINTER(ExplainedMeasurement)), ("measurement_count", c.c_int64),
        ("inputs", c.c_void_p), ("segmentation", c.c_void_p), ("length", c.c_int64),
    ]


class CanFacts(c.Structure):
    """leat_can_facts"""
    _fields_ = [
        ("path", c.c_char_p), ("fingerprint", c.c_char_p), ("dataset", c.c_char_p),
        ("preset", c.c_char_p), ("built_at", c.c_char_p), ("window", c.c_int64),
        ("stride", c.c_int64), ("frames", c.c_bool), ("split_count", c.c_int),
        ("vocab_count", c.c_int64), ("id_count", c.c_int64), ("capture_count", c.c_int64),
        ("windows_dropped", c.c_int64),
    ]


class CanScalerFacts(c.Structure):
    """leat_can_scaler_facts"""
    _fields_ = [
        ("strategy", c.c_char_p), ("x_center", c.c_double * 35), ("x_scale", c.c_double * 35),
        ("edge_center", c.c_double * 11), ("edge_scale", c.c_double * 11),
    ]


class CanSizesFacts(c.Structure):
    """leat_can_sizes_facts"""
    _fields_ = [
        ("min", c.c_int64), ("max", c.c_int64), ("mean", c.c_double), ("p95", c.c_double),
        ("p99", c.c_double),
    ]


class CanAttackCount(c.Structure):
    """leat_can_attack_count"""
    _fields_ = [
        ("name", c.c_char_p), ("graphs", c.c_int64),
    ]


class CanSplit(c.Structure):
    """leat_can_split"""
    _fields_ = [
        ("name", c.c_char_p), ("graph_count", c.c_int64), ("node_count", c.c_int64),
        ("edge_count", c.c_int64), ("nodes", CanSizesFacts), ("edges", CanSizesFacts),
        ("frames", c.c_int64), ("file_bytes", c.c_int64), ("attacks", c.POINTER(CanAttackCount)),
        ("attack_count", c.c_int),
    ]


class CanClasses(c.Structure):
    """leat_can_classes"""
    _fields_ = [
        ("graphs", c.c_int64 * 2), ("unlabelled", c.c_int64), ("weight", c.c_double * 2),
    ]


class CanCaptureFacts(c.Structure):
    """leat_can_capture_facts"""
    _fields_ = [
        ("file", c.c_char_p), ("folder", c.c_char_p), ("split", c.c_char_p), ("bus", c.c_int32),
        ("vehicle", c.c_int32), ("frames", c.c_int64), ("windows", c.c_int64),
        ("tail", c.c_int64), ("between", c.c_int64), ("dropped", c.c_int64),
        ("rejected", c.c_int64), ("first_s", c.c_double), ("last_s", c.c_double),
        ("recording", c.c_int32),
    ]


class CanGraphFacts(c.Structure):
    """leat_can_graph_facts"""
    _fields_ = [
        ("graph", c.c_int64), ("window_start", c.c_int64), ("capture", c.c_int32),
        ("node_count", c.c_int32), ("edge_count", c.c_int32), ("y", c.c_int32),
        ("attack_type", c.c_int32), ("attack_first", c.c_int32), ("attack_count", c.c_int32),
    ]


class CanGraph(c.Structure):
    """leat_can_graph"""
    _fields_ = [
        ("facts", CanGraphFacts), ("x", c.c_void_p), ("edge_attr", c.c_void_p),
        ("edge_index", c.c_void_p), ("node_id", c.c_void_p),
    ]


class GraphLoaderOptions(c.Structure):
    """leat_graph_loader_options"""
    _fields_ = [
        ("batches", GraphBatchOptions), ("scale", c.c_int), ("split", c.c_char_p),
        ("scores", c.c_char_p), ("host_index", c.c_int64), ("host_count", c.c_int64),
        ("threads", c.c_int), ("prefetch", c.c_int64), ("memory_bytes", c.c_int64),
    ]


class GraphBatch(c.Structure):
    """leat_graph_batch"""
    _fields_ = [
        ("epoch", c.c_int64), ("batch", c.c_int64), ("batch_count", c.c_int64),
        ("graph_count", c.c_int64), ("node_count", c.c_int64), ("edge_count", c.c_int64),
        ("x", c.c_void_p), ("edge_attr", c.c_void_p), ("edge_index", c.c_void_p),
        ("node_id", c.c_void_p), ("node_graph", c.c_void_p), ("node_ptr", c.c_void_p),
        ("edge_ptr", c.c_void_p), ("y", c.c_void_p), ("attack_type", c.c_void_p),
        ("graph", c.c_void_p),
    ]


class GraphLoaderFacts(c.Structure):
    """leat_graph_loader_facts"""
    _fields_ = [
        ("split_graphs", c.c_int64), ("graphs", c.c_int64), ("left_out", c.c_int64),
        ("oversize", c.c_void_p), ("oversize_count", c.c_int64), ("most_graphs", c.c_int64),
        ("most_nodes", c.c_int64), ("most_edges", c.c_int64),
    ]


class GraphEpochFacts(c.Structure):
    """leat_graph_epoch_facts"""
    _fields_ = [
        ("batch_count", c.c_int64), ("step_count", c.c_int64), ("graph_count", c.c_int64),
        ("tiers", c.c_int64),
    ]


class GraphLoaderCounters(c.Structure):
    """leat_graph_loader_counters"""
    _fields_ = [
        ("batches", c.c_int64), ("graphs", c.c_int64), ("nodes", c.c_int64), ("edges", c.c_int64),
        ("payload_bytes", c.c_int64), ("stall_ns", c.c_int64), ("work_ns", c.c_int64),
        ("memory_bytes", c.c_int64), ("prefetch", c.c_int64), ("read_wait_ns", c.c_int64),
    ]


class GraphExplanation(c.Structure):
    """leat_graph_explanation"""
    _fields_ = [
        ("epoch", c.c_int64), ("batch", c.c_int64), ("batch_count", c.c_int64),
        ("tiers", c.c_int64), ("graph_count", c.c_int64), ("node_count", c.c_int64),
        ("edge_count", c.c_int64), ("graphs", c.POINTER(CanGraphFacts)),
    ]


class ImagesFacts(c.Structure):
    """leat_images_facts"""
    _fields_ = [
        ("path", c.c_char_p), ("fingerprint", c.c_char_p), ("decoded_sha256", c.c_char_p),
        ("count", c.c_int64), ("size", c.c_int32), ("image_bytes", c.c_int64),
        ("rejected", c.c_int64), ("file_bytes", c.c_int64), ("sorted_sha256", c.c_char_p),
        ("texts", c.c_int64), ("background", c.c_char_p),
    ]


class ImageFacts(c.Structure):
    """leat_image_facts"""
    _fields_ = [
        ("name", c.c_char_p), ("width", c.c_int32), ("height", c.c_int32),
        ("decoded", c.c_uint64),
    ]


class ImageLoaderOptions(c.Structure):
    """leat_image_loader_options"""
    _fields_ = [
        ("batch", c.c_int64), ("as", c.c_int), ("seed", c.c_uint64), ("epochs", c.c_int64),
        ("host_index", c.c_int64), ("host_count", c.c_int64), ("threads", c.c_int),
        ("prefetch", c.c_int64), ("memory_bytes", c.c_int64), ("window_bytes", c.c_int64),
    ]


class ImageBatch(c.Structure):
    """leat_image_batch"""
    _fields_ = [
        ("step", c.c_int64), ("first_position", c.c_int64), ("first_row", c.c_int64),
        ("row_count", c.c_int64), ("size", c.c_int32), ("u8", c.c_void_p), ("f32", c.c_void_p),
        ("index", c.c_void_p),
    ]


class ImageLoaderCounters(c.Structure):
    """leat_image_loader_counters"""
    _fields_ = [
        ("batches", c.c_int64), ("images", c.c_int64), ("payload_bytes", c.c_int64),
        ("stall_ns", c.c_int64), ("work_ns", c.c_int64), ("memory_bytes", c.c_int64),
        ("prefetch", c.c_int64), ("read_wait_ns", c.c_int64),
    ]


# name: (result, arguments)
PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "leat_version": (c.c_char_p, ()),
    "leat_build_info": (c.c_bool, (c.c_int, c.POINTER(BuildItem))),
    "leat_textbuf_create": (_code, (c.POINTER(_handle), _error)),
    "leat_textbuf_destroy": (None, (_handle,)),
    "leat_textbuf_finish": (_code, (_handle, c.POINTER(c.c_char_p), c.POINTER(c.c_int64),
        _error)),
    "leat_text_save": (_code, (c.c_char_p, c.c_char_p, c.c_int64, c.c_int, c.c_bool, _error)),
    "leat_settings_set": (_code, (_handle, c.c_void_p, c.c_char_p, c.c_char_p, _error)),
    "leat_tokens_words": (_code, (c.c_void_p, c.c_void_p, c.c_int32, _handle, _error)),
    "leat_sampler_options_table": (_handle, ()),
    "leat_graph_batch_options_table": (_handle, ()),
    "leat_graph_model_name": (c.c_char_p, (c.c_int,)),
    "leat_graph_memory_of": (_code, (c.c_int, c.c_int64, c.POINTER(GraphMemory), _error)),
    "leat_graph_budget": (_code, (c.POINTER(GraphMemory), c.c_int64, c.POINTER(GraphTotals),
        c.POINTER(c.c_int64), c.POINTER(c.c_int64), _error)),
    "leat_train_warning_text": (c.c_char_p, (c.POINTER(TrainWarning), c.c_char * 256)),
    "leat_run_open": (_code, (c.POINTER(_handle), c.c_char_p, _error)),
    "leat_run_close": (None, (_handle,)),
    "leat_run_get_facts": (None, (_handle, c.POINTER(RunFacts))),
    "leat_run_setting_at": (c.c_bool, (_handle, c.c_int, c.POINTER(c.c_char_p),
        c.POINTER(c.c_char_p))),
    "leat_run_checkpoint_at": (c.c_bool, (_handle, c.c_int, c.POINTER(RunCheckpoint))),
    "leat_run_metrics_load": (_code, (c.POINTER(c.POINTER(RunMetrics)), _handle, c.c_int64,
        _error)),
    "leat_run_metrics_destroy": (None, (c.POINTER(RunMetrics),)),
    "leat_run_sample_options_default": (RunSampleOptions, ()),
    "leat_run_sample": (_code, (_handle, c.POINTER(RunSampleOptions), c.c_void_p,
        c.POINTER(c.c_double), c.POINTER(c.c_int64), _error)),
    "leat_run_export": (_code, (c.c_char_p, c.c_int64, c.c_char_p, c.c_bool, _error)),
    "leat_threshold_rule_name": (c.c_char_p, (c.c_int,)),
    "leat_threshold_note": (c.c_char_p, (c.POINTER(Threshold), c.c_char * 256)),
    "leat_evaluation_options_default": (EvaluationOptions, ()),
    "leat_evaluation_options_table": (_handle, ()),
    "leat_evaluation_create": (_code, (c.POINTER(c.POINTER(Evaluation)), c.POINTER(c.c_char_p),
        c.c_int, c.c_char_p, c.POINTER(EvaluationOptions), _error)),
    "leat_evaluation_destroy": (None, (c.POINTER(Evaluation),)),
    "leat_measurements_free": (None, (c.POINTER(Measurements),)),
    "leat_can_attack_name_of": (c.c_char_p, (c.c_int, c.c_int)),
    "leat_dataset_options_default": (DatasetOptions, ()),
    "leat_dataset_open": (_code, (c.POINTER(_handle), c.POINTER(c.c_char_p), c.c_int64,
        c.POINTER(DatasetOptions), _error)),
    "leat_dataset_close": (None, (_handle,)),
    "leat_dataset_get_facts": (None, (_handle, c.POINTER(DatasetFacts))),
    "leat_dataset_fingerprint": (_code, (_handle, c.c_char * 65, _error)),
    "leat_dataset_get_shard": (_code, (_handle, c.c_int64, c.POINTER(DatasetShard), _error)),
    "leat_dataset_row": (_code, (_handle, c.c_int64, c.POINTER(RowFacts), _error)),
    "leat_row_create": (_code, (c.POINTER(_handle), _handle, _error)),
    "leat_row_destroy": (None, (_handle,)),
    "leat_dataset_row_open": (_code, (_handle, c.c_int64, _handle, _error)),
    "leat_row_measurement": (_code, (_handle, c.c_int64, c.POINTER(Measurement), _error)),
    "leat_dataset_row_decode": (_code, (_handle, c.POINTER(Measurements), _error)),
    "leat_dataset_row_record": (_code, (_handle, c.POINTER(c.c_void_p), c.POINTER(c.c_int64),
        _error)),
    "leat_loader_options_default": (LoaderOptions, ()),
    "leat_loader_options_table": (_handle, ()),
    "leat_loader_create": (_code, (c.POINTER(_handle), _handle, c.POINTER(LoaderOptions),
        _error)),
    "leat_loader_destroy": (None, (_handle,)),
    "leat_loader_next": (_code, (_handle, c.POINTER(c.POINTER(Batch)), _error)),
    "leat_loader_wait": (c.c_bool, (_handle, c.c_int64)),
    "leat_batch_release": (None, (c.POINTER(Batch),)),
    "leat_loader_step": (c.c_int64, (_handle,)),
    "leat_loader_step_count": (c.c_int64, (_handle,)),
    "leat_loader_epoch_sequences": (c.c_int64, (_handle,)),
    "leat_loader_seek": (_code, (_handle, c.c_int64, _error)),
    "leat_loader_state": (None, (_handle, c.c_char * 257)),
    "leat_loader_restore": (_code, (_handle, c.c_char_p, _error)),
    "leat_loader_save": (_code, (_handle, c.c_char_p, c.c_bool, _error)),
    "leat_loader_load": (_code, (_handle, c.c_char_p, _error)),
    "leat_loader_get_counters": (None, (_handle, c.POINTER(LoaderCounters))),
    "leat_loader_exceeds_memory": (c.c_bool, (_handle, c.POINTER(c.c_int64),
        c.POINTER(c.c_int64))),
    "leat_loader_quarantine": (_code, (_handle, c.POINTER(c.POINTER(Quarantined)),
        c.POINTER(c.c_int64), _error)),
    "leat_quarantine_free": (None, (c.POINTER(Quarantined),)),
    "leat_loader_explain": (_code, (_handle, c.c_int64, c.c_int64,
        c.POINTER(c.POINTER(Explanation)), _error)),
    "leat_explanation_destroy": (None, (c.POINTER(Explanation),)),
    "leat_can_cache_open": (_code, (c.POINTER(_handle), c.c_char_p, _error)),
    "leat_can_cache_close": (None, (_handle,)),
    "leat_can_cache_get_facts": (None, (_handle, c.POINTER(CanFacts))),
    "leat_can_cache_setting": (c.c_char_p, (_handle, c.c_char_p)),
    "leat_can_cache_setting_name": (c.c_char_p, (_handle, c.c_int)),
    "leat_can_cache_identifier": (c.c_char_p, (_handle, c.c_int64)),
    "leat_can_cache_get_scaler": (None, (_handle, c.POINTER(CanScalerFacts))),
    "leat_can_cache_get_split": (_code, (_handle, c.c_int, c.POINTER(CanSplit), _error)),
    "leat_can_cache_get_classes": (_code, (_handle, c.c_char_p, c.POINTER(CanClasses), _error)),
    "leat_can_cache_get_capture": (_code, (_handle, c.c_int64, c.POINTER(CanCaptureFacts),
        _error)),
    "leat_can_reader_create": (_code, (c.POINTER(_handle), _handle, c.c_char_p, c.c_int, _error)),
    "leat_can_reader_destroy": (None, (_handle,)),
    "leat_can_reader_facts": (_code, (_handle, c.c_int64, c.POINTER(CanGraphFacts), _error)),
    "leat_can_reader_graph": (_code, (_handle, c.c_int64, c.POINTER(CanGraph), _error)),
    "leat_graph_loader_options_default": (GraphLoaderOptions, ()),
    "leat_graph_loader_options_table": (_handle, ()),
    "leat_graph_loader_create": (_code, (c.POINTER(_handle), _handle,
        c.POINTER(GraphLoaderOptions), _error)),
    "leat_graph_loader_destroy": (None, (_handle,)),
    "leat_graph_loader_next": (_code, (_handle, c.POINTER(c.POINTER(GraphBatch)), _error)),
    "leat_graph_loader_wait": (c.c_bool, (_handle, c.c_int64)),
    "leat_graph_batch_release": (None, (c.POINTER(GraphBatch),)),
    "leat_graph_loader_place": (None, (_handle, c.POINTER(c.c_int64), c.POINTER(c.c_int64))),
    "leat_graph_loader_seek": (_code, (_handle, c.c_int64, c.c_int64, _error)),
    "leat_graph_loader_state": (None, (_handle, c.c_char * 257)),
    "leat_graph_loader_restore": (_code, (_handle, c.c_char_p, _error)),
    "leat_graph_loader_save": (_code, (_handle, c.c_char_p, c.c_bool, _error)),
    "leat_graph_loader_load": (_code, (_handle, c.c_char_p, _error)),
    "leat_graph_loader_get_facts": (None, (_handle, c.POINTER(GraphLoaderFacts))),
    "leat_graph_loader_get_epoch": (_code, (_handle, c.c_int64, c.POINTER(GraphEpochFacts),
        _error)),
    "leat_graph_loader_get_counters": (None, (_handle, c.POINTER(GraphLoaderCounters))),
    "leat_graph_loader_explain": (_code, (_handle, c.c_int64, c.c_int64,
        c.POINTER(c.POINTER(GraphExplanation)), _error)),
    "leat_graph_explanation_destroy": (None, (c.POINTER(GraphExplanation),)),
    "leat_images_open": (_code, (c.POINTER(_handle), c.c_char_p, _error)),
    "leat_images_close": (None, (_handle,)),
    "leat_images_get_facts": (None, (_handle, c.POINTER(ImagesFacts))),
    "leat_images_get_entry": (_code, (_handle, c.c_int64, c.POINTER(ImageFacts), _error)),
    "leat_images_find": (c.c_int64, (_handle, c.c_char_p)),
    "leat_images_read": (_code, (_handle, c.c_int64, c.c_void_p, _error)),
    "leat_image_loader_options_default": (ImageLoaderOptions, ()),
    "leat_image_loader_options_table": (_handle, ()),
    "leat_image_loader_create": (_code, (c.POINTER(_handle), _handle,
        c.POINTER(ImageLoaderOptions), _error)),
    "leat_image_loader_destroy": (None, (_handle,)),
    "leat_image_loader_next": (_code, (_handle, c.POINTER(c.POINTER(ImageBatch)), _error)),
    "leat_image_loader_wait": (c.c_bool, (_handle, c.c_int64)),
    "leat_image_batch_release": (None, (c.POINTER(ImageBatch),)),
    "leat_image_loader_step": (c.c_int64, (_handle,)),
    "leat_image_loader_step_count": (c.c_int64, (_handle,)),
    "leat_image_loader_seek": (_code, (_handle, c.c_int64, _error)),
    "leat_image_loader_state": (None, (_handle, c.c_char * 257)),
    "leat_image_loader_restore": (_code, (_handle, c.c_char_p, _error)),
    "leat_image_loader_save": (_code, (_handle, c.c_char_p, c.c_bool, _error)),
    "leat_image_loader_load": (_code, (_handle, c.c_char_p, _error)),
    "leat_image_loader_get_counters": (None, (_handle, c.POINTER(ImageLoaderCounters))),
}
