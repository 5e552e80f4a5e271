#compdef leat
_leat_splits() {
  local data all=all
  local -a splits
  if [[ $words[1] == cat ]]; then all=; fi
  for data in ${(Q)words[2,-1]}; do
    [[ -d $data ]] || continue
    if [[ -n $all && -f $data/manifest.json ]]; then splits+=(train test all); fi
    [[ -f $data/vocab.json ]] || continue
    splits+=($data/*.safetensors(N:t:r) $all)
  done
  compadd -- $splits
}
_leat() {
  local help=
  if [[ $words[2] == help ]] && ((CURRENT > 2)); then
    help=1
    shift words
    ((CURRENT -= 1))
  fi
  if ((CURRENT == 2)); then
    compadd -- ingest inspect cat batches synth train eval detect sample export import coordinate work invite revoke status dash doctor version
    [[ -n $help ]] || compadd -- help
    return
  fi
  if ((CURRENT == 3)); then
    case $words[2] in
    ingest) compadd -- probes ;|
    ingest) compadd -- can ;|
    ingest) compadd -- images ;|
    synth) compadd -- probes ;|
    synth) compadd -- can ;|
    synth) compadd -- images ;|
    train) compadd -- dcgan ;|
    train) compadd -- vgae ;|
    train) compadd -- gat ;|
    esac
  fi
  [[ -z $help ]] || return 0
  case "$words[2] $words[3]" in
  'ingest probes')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--output[folder to write the data set to; it holds one data set]:output:_files' \
      '-o[folder to write the data set to; it holds one data set]:output:_files' \
      '--column[names of columns in the input, if different, and units: event_time=ts,rtt=delay:us. Units are s, ms, us, ns and excel of event_time, which is otherwise read by the size of the number, and s, ms, us and ns of rtt, which otherwise has the unit that its name ends with (rtt_us, latencyNs), or is in ms]:column:_files' \
      '--memory[memory limit of the process]:memory:' \
      '--threads[number of threads; the output does not depend on it]:threads:' \
      '--seed[seed of the train/test split]:seed:' \
      '--train-ratio[fraction of the probes in the training split]:train-ratio:' \
      '--split[hash: by a keyed hash of the probe, stable when data is added; ordered: the first probes in byte order of the address are training probes]:split:(hash ordered)' \
      '--max-row-size[split a probe into rows of at most this many bytes of measurements; none: one row per probe]:max-row-size:' \
      '--shards[write exactly N training shards, and test shards in proportion; auto: by --probes-per-shard]:shards:' \
      '--probes-per-shard[number of probes per shard file]:probes-per-shard:' \
      '--compression[none, snappy, zstd or brotli, the last two with an optional level (zstd:9); loaders can only map uncompressed data]:compression:_files' \
      '--dictionary-src[store the source address once per row: about 30 % smaller]' \
      '--zero-address[keep rows whose address is empty, as 0.0.0.0 or ::]' \
      '--address[auto: store addresses as written, but IPv4-mapped ones (::ffff:192.0.2.1) as IPv4; written: all as written; canonical: all in the form of RFC 5952, so that each address is one probe]:address:(auto written canonical)' \
      '--probe[what a probe is, which decides its split and its rows: an address, or a value of this column or JSON member, such as prb_id of RIPE Atlas]:probe:(address)' \
      '--lost[values of rtt, as they are written in the input (before units), that stand for a lost ping: 0,9999]:lost:_files' \
      '--per-packet[RIPE Atlas: one measurement per packet instead of the average of each result]' \
      '--duplicates[measurements that equal another one in all columns: keep and count them, or drop all but the first; equal answers of one result (--per-packet) are not duplicates]:duplicates:(keep drop)' \
      '--strict[fail on the first row that is rejected]' \
      '--temp[existing folder for temporary data]:temp:_files' \
      '--spill[auto: write measurements to temporary files only if they do not fit in memory; always: write all of them, so that an ingest that was killed, not only one that was stopped, can be resumed after its scan]:spill:(auto always)' \
      '--resume[continue an interrupted ingest after its scan; a complete one is left as it is]' \
      '--replace[replace the output, even if it is complete or was interrupted; third-party files stay]' \
      '--verify[hash the inputs before an existing result is reused; equal sizes and modification times are not enough]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'ingest can')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--output[folder to create the cache in, as NAME-DIGEST; it may hold several caches]:output:_files' \
      '-o[folder to create the cache in, as NAME-DIGEST; it may hold several caches]:output:_files' \
      '--dataset[find training and test folders by the names of this data set, in PATH or PATH/NAME]:dataset:(hcrl_ch hcrl_sa set_01 set_02 set_03 set_04)' \
      '--train[patterns of folders or files in PATH to train on]:train:_files' \
      '--test[patterns of folders or files to test on, each a separate split]:test:_files' \
      '--preset[reference: all settings below as in graphids]:preset:(default reference)' \
      '--format[format of the logs; auto detects it from the contents]:format:(auto csv hcrl hcrl-text survival gvret candump crysys asc trc vehicle-spy openxc busmaster cl2000 canking)' \
      '--window[frames per window]:window:' \
      '--stride[frames from one window to the next]:stride:' \
      '--captures[windows never span two captures, or the captures of a split are merged by time]:captures:(separate merged)' \
      '--clock-steps[where the timestamps of a log fall back by more than 1 s, start a new capture, or sort; with SECONDS, also start one after a pause of more than that]:clock-steps:(split sort split:SECONDS)' \
      '--bus[treat each bus of a log as a capture, merge the buses, or read only one of them]:bus:' \
      '--payload[reject lines whose payload is not hexadecimal, or read them as graphids does]:payload:(strict lenient)' \
      '--can-fd[cut frames of more than 8 bytes, or reject them]:can-fd:(cut refuse)' \
      '--identifiers[identifiers with 3 or 8 upper-case digits, or as written in the log]:identifiers:(canonical written)' \
      '--val-split[validate on blocks of time with a gap to training, or on random windows]:val-split:(blocks random)' \
      '--val-fraction[fraction of the training windows used for validation]:val-fraction:' \
      '--edge-step[edge features compare the source with the previous frame, or with the target]:edge-step:(previous own)' \
      '--self-loops[count or ignore self-loops in the clustering coefficient]:self-loops:(count ignore)' \
      '--attack-type[label frames individually, or all frames of a file by its name]:attack-type:(frame file)' \
      '--attack-codes[19 attack types, or the 7 of graphids]:attack-codes:(long short)' \
      '--unlabelled[logs without labels: by-name: benign if their names say so; benign: always benign; unknown: unlabelled; benign-lines: always benign, and so is every line without a label in a log with labels]:unlabelled:(by-name benign unknown benign-lines)' \
      '--vocab[number identifiers seen in training, or those of tests as well, or only those of training frames that are not labelled as attacks]:vocab:(train all benign)' \
      '--scaler[how features are scaled while loading]:scaler:(z_benign z_all robust_benign none)' \
      '--store[store features, or store frames (a quarter of the size) and compute features while loading]:store:(features frames)' \
      '--seed[seed of the choice of validation windows]:seed:' \
      '--column[read the logs as csv with these columns, separated by commas, by name or number: time=T:ms,id=ID:dec,bus=B,dlc=N,data=D0..D7,label=L or L+M, attack for the types of attacks if another column has them, and extended, remote, error; after a colon time takes s, ms, us, ns or gap, id hex or dec, dlc bytes or bits, data hex, dec, bits or base64]:column:_files' \
      '--times[read times as those of a clock, or as gaps from one frame to the next, which are added up; auto reads a clock, and refuses logs where more than a quarter of the times are earlier than the one before]:times:(auto clock gap)' \
      '--no-time[read csv without times, as if they had this many frames per second]:no-time:' \
      '--allow-overlap[allow --val-split random with --stride below --window, though validation then has the frames of training]' \
      '--memory[memory limit of the process]:memory:' \
      '--threads[number of threads; the output does not depend on it]:threads:' \
      '--max-rejected[share of a file'\''s lines that may be rejected even if that is more than 1 % and 100 lines, or more than half, or if their labels cannot be read]:max-rejected:' \
      '--resume[continue an interrupted ingest after its scan; a complete one is left as it is]' \
      '--replace[replace the output, even if it is complete or was interrupted; third-party files stay]' \
      '--verify[hash the inputs, and the pages of the cache, before an existing cache is reused; equal sizes and modification times are not enough]' \
      '--temp[existing folder for temporary data; --resume needs the same one]:temp:_files' \
      '--like[use the vocabulary and the scaler of this cache, for a model that was trained on it: other identifiers are unknown; settings that decide identifiers and features must be the same]:like:_files' \
      '--stage[also copy the finished cache to fast storage, verified, unless it is already there]:stage:_files' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'ingest images')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--output[folder to write the data set to; it holds one data set]:output:_files' \
      '-o[folder to write the data set to; it holds one data set]:output:_files' \
      '--size[height and width of the images in the data set]:size:' \
      '--background[colour to blend transparent pixels with; drop keeps the colour that is stored]:background:(drop white black)' \
      '--include[read only files that match the pattern: with a "/" their whole name, otherwise the file'\''s own name or that of a folder]:include:_files' \
      '--exclude[do not read files that match the pattern]:exclude:_files' \
      '--max-rejected[fail, without output, if a larger share of the files is rejected]:max-rejected:' \
      '--memory[memory limit of the process]:memory:' \
      '--threads[number of threads; the output does not depend on it]:threads:' \
      '--strict[fail on the first file that is rejected]' \
      '--resume[continue an interrupted ingest after the files that it has read; a complete one is left as it is]' \
      '--replace[replace the output, even if it is complete or was interrupted; third-party files stay]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'inspect'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--json[write one JSON document to stdout]' \
      '--html[also write a page with plots: one self-contained file, without scripts or network access]:html:_files' \
      '--figures[write each figure of the page to DIR as SVG, and its numbers as CSV; DIR may hold figures that leat wrote, and no other files]:figures:_files' \
      '--replace[overwrite existing files even if leat did not write them, and let --figures write to a folder that holds other files]' \
      '--rows[describe N rows in words, evenly spaced over the data set]:rows:' \
      '--read[if rows, graphs or images exceed this size, compute values (round trips, gaps, failures; features; pixels) from a sample of about this size, selected by their numbers; none: read all]:read:' \
      '--verify[read and check everything: hashes, structure, every row, graph or image, their order, index or metadata, and that no probe or window is in two splits; exit status 1 if a problem is found]' \
      '--memory[memory limit for third-party files, not counting mapped files; uses fewer threads if necessary; a chunk that does not fit is an error that names a sufficient SIZE]:memory:' \
      '--threads[number of threads; does not change the result]:threads:' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'cat'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--format[ndjson: one measurement, graph or image per line; csv: measurements only (both of measurements are complete and can be ingested again); words: for reading]:format:(ndjson csv words)' \
      '-f[ndjson: one measurement, graph or image per line; csv: measurements only (both of measurements are complete and can be ingested again); words: for reading]:format:(ndjson csv words)' \
      '--rows[rows to write, counted from 0, END excluded; either may be omitted, and a single number selects that row]:rows:_files' \
      '--src[write only measurements of the source with this address, spelled as in the input]:src:_files' \
      '--graph[graph of the split to write, counted from 0; or graphs FIRST:END, END excluded, and : for all; without this option the first]:graph:_files' \
      '--split[split to write: train, val or a test split; leat inspect lists them]:split:_leat_splits' \
      '--scale[none: features as stored; stored: scaled by the cache'\''s scaler, as in loading]:scale:(none stored)' \
      '--image[image to write: its number, counted from 0, or its name; or images FIRST:END, END excluded; otherwise all of them]:image:_files' \
      '--output[also write the pixels of --image to FILE, as PNG]:output:_files' \
      '-o[also write the pixels of --image to FILE, as PNG]:output:_files' \
      '--replace[let --output overwrite an existing file even if leat did not write it]' \
      '--memory[memory limit for third-party files, not counting mapped files; a chunk that does not fit is an error that names a sufficient SIZE]:memory:' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'batches'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--json[write one JSON document to stdout]' \
      '--split[split to load: train, test or all (default: train; of third-party files that have no training rows, all); for a CAN cache train, val, test_NAME, or all, one after the other (default: train)]:split:_leat_splits' \
      '--sampler[how contexts are drawn from a row (see docs/sampling.md)]:sampler:(plan3 plan2 all)' \
      '--length[tokens per sequence]:length:' \
      '--seed[random seed]:seed:' \
      '--timestamp-modes[percentages of contexts with all, some and no timestamps (plan2: all, none, mixed)]:timestamp-modes:_files' \
      '--field-order[order of a measurement'\''s fields: random, or derived from its content]:field-order:(random content)' \
      '--packing[fill sequences with more contexts, or write one context per sequence]:packing:(fill none)' \
      '--tail[cut the last measurement of a filled sequence, or pad the sequence instead]:tail:(cut pad)' \
      '--boundary[whether the last token of a context predicts the first token of the next one]:boundary:(mask cross)' \
      '--by[take each row of a batch from a different probe; disables epochs]:by:(client)' \
      '--batch[rows per global batch, over all hosts]:batch:' \
      '--client-weights[how often each probe is drawn with --by client; FILE is a CSV with src_id and weight]:client-weights:_files' \
      '--clients-per-round[with --by client: draw the probes of each batch from N probes, chosen anew each round]:clients-per-round:' \
      '--steps-per-round[steps per round]:steps-per-round:' \
      '--epochs[end after N epochs; 0: never]:epochs:' \
      '--host[make the share of host H, counted from 0]:host:' \
      '--hosts[number of hosts that share the batches]:hosts:' \
      '--threads[number of threads; the batches do not depend on it]:threads:' \
      '--memory[memory limit, not counting mapped files]:memory:' \
      '--prefetch[batches made ahead; auto: as many as --memory holds, at most 8]:prefetch:' \
      '--order[global: contexts of a batch are from anywhere; windowed, for data larger than memory: from windows, together of about SIZE (128M), so that data is read once an epoch, in large pieces]:order:(global windowed)' \
      '--io[how uncompressed shards are read]:io:(mmap pread)' \
      '--on-corrupt[on damaged data: fail, or zero the sequences that need it and list the records]:on-corrupt:(fail mask)' \
      '--addresses[CSV with src_id and src_addr, for rows without a source address]:addresses:_files' \
      '--rows[build these rows of each batch, in this order, instead of the rows of one host]:rows:_files' \
      '--steps[steps to build, END excluded, counted from 0 across all epochs; either may be omitted (default: 10 steps, or to the end of --epochs)]:steps:_files' \
      '--hash=-[print one SHA-256 over all rows; with =rows, one line per row: step, row (graphs: epoch, batch) and the SHA-256 of its arrays]::hash:(all rows)' \
      '--time[print rates; runs for 3 seconds unless --steps is given]' \
      '--words[print the sequences in words (default: one step)]' \
      '--explain[describe the contents of this row of the batch: shard, record, measurements; for a CAN cache (no ROW), the contents of the batch: graphs, files, windows, attacks; for an image data set (ROW may be omitted), the image]:explain:' \
      '--report[write an HTML page with plots of batch contents: padding compared with other packings, time scales, tokens, repeats; for graphs, fill, sizes, attacks and tiers; covers --steps, or one epoch (at most 16,384 sequences); with --json, also print its numbers; not for image data sets]:report:_files' \
      '--figures[write each figure of the page to DIR as SVG, and its numbers as CSV; DIR may hold figures that leat wrote, and no other files]:figures:_files' \
      '--replace[overwrite existing files even if leat did not write them, and let --figures write to a folder that holds other files]' \
      '--resume[start from the state in FILE]:resume:_files' \
      '--save-state[write the state to FILE at the end, even after a failure or a signal]:save-state:_files' \
      '--curriculum[rank benign graphs, at random or by the scores in FILE (JSON), and start with the easy ones]:curriculum:_files' \
      '--graphs[load all graphs, only benign ones (y = 0), those with an attack (y = 1), or both of these]:graphs:(all benign attack labelled)' \
      '--pack[how graphs are packed into batches (see docs/can-graphs.md)]:pack:(ffd next-fit bucket fixed)' \
      '--batch[graphs per batch with --pack fixed]:batch:' \
      '--max-nodes[maximum number of nodes per batch; 0: no limit]:max-nodes:' \
      '--max-edges[maximum number of edges per batch; 0: no limit]:max-edges:' \
      '--oversize[skip graphs that alone exceed the budget, give each its own batch, or fail]:oversize:(skip alone fail)' \
      '--min-steps[make batches smaller so that an epoch has at least N of them]:min-steps:' \
      '--tiers[tiers of the curriculum, from easy to hard]:tiers:' \
      '--curriculum-start[where the ramp over --epochs begins]:curriculum-start:' \
      '--curriculum-end[where the ramp ends; all tiers are in use then]:curriculum-end:' \
      '--epochs[end after N epochs; 0: never]:epochs:' \
      '--preset[reference: batches as graphids makes them]:preset:(default reference)' \
      '--order[global: graphs of a batch are from anywhere; windowed, for caches larger than memory: from one window of about SIZE (128M), so that the file is read once an epoch, in large pieces]:order:(global windowed)' \
      '--scale[scale features with the cache'\''s scaler, or leave them unchanged]:scale:(stored none)' \
      '--device-memory[set --max-nodes and --max-edges so that a training step of --model uses at most this much device memory, and print both]:device-memory:' \
      '--model[model to budget for with --device-memory]:model:(vgae vgae-large gat gat-large)' \
      '--batch[images per global batch, over all hosts]:batch:' \
      '--as[levels, \[rows, S, S, 3\], or values from -1 to 1, \[rows, 3, S, S\]]:as:(u8 float)' \
      '--order[global: images of a batch are from anywhere; windowed, for data sets larger than memory: from one window of about SIZE (128M), so that the file is read once an epoch, in large pieces]:order:(global windowed)' \
      '--stage[copy the cache to fast storage, verified, unless it is already there, and load from the copy; the copy is kept]:stage:_files' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'synth probes')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--measurements[number of measurements]:measurements:' \
      '-n[number of measurements]:measurements:' \
      '--output[FILE.parquet, FILE.csv, or a folder for many Parquet files]:output:_files' \
      '-o[FILE.parquet, FILE.csv, or a folder for many Parquet files]:output:_files' \
      '--probes[number of probes]:probes:' \
      '-p[number of probes]:probes:' \
      '--seed[seed of the measurements; the same seed gives the same bytes]:seed:' \
      '--rows-per-file[measurements per file in a folder]:rows-per-file:' \
      '--threads[number of files to write at once in a folder]:threads:' \
      '--memory[memory limit; fewer files are written at once if necessary]:memory:' \
      '--replace[replace the output of an earlier run]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'synth can')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--frames[total number of frames in all files]:frames:' \
      '-n[total number of frames in all files]:frames:' \
      '--output[folder to create]:output:_files' \
      '-o[folder to create]:output:_files' \
      '--vehicles[number of vehicles; with two or more, a quarter (at least one) appears only in tests]:vehicles:' \
      '--attacks[attacks to include, separated by commas]:attacks:_files' \
      '--seed[seed of the vehicles; the same seed gives the same bytes]:seed:' \
      '--threads[number of files to write at once]:threads:' \
      '--replace[replace the output of an earlier run]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'synth images')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--count[number of images]:count:' \
      '-n[number of images]:count:' \
      '--output[folder to create, or zip archive to write]:output:_files' \
      '-o[folder to create, or zip archive to write]:output:_files' \
      '--seed[seed of the images; the same seed gives the same images]:seed:' \
      '--threads[number of images to draw at once]:threads:' \
      '--replace[replace the output of an earlier run]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'train dcgan')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--output[folder of the run; required without --dry-run]:output:_files' \
      '-o[folder of the run; required without --dry-run]:output:_files' \
      '--config[read settings from a YAML file, such as RUN/config.yaml; command-line options take precedence]:config:_files' \
      '--steps[steps to train, counted from the beginning of the run]:steps:' \
      '--epochs[train for E epochs: ceil(E x images / images per step) steps]:epochs:' \
      '--units[units per step; in distributed training at most that many machines compute at once]:units:' \
      '--unit-size[images per unit, a multiple of --micro-batch]:unit-size:' \
      '--micro-batch[images that are normalised together; multiples of 16 are fastest]:micro-batch:' \
      '--codec-up[how gradients are rounded before they are added, as in distributed training]:codec-up:(f32 bf16 int8)' \
      '--codec-down[how weights are rounded before units are computed from them, as in distributed training]:codec-down:(f32 bf16)' \
      '--seed[seed of the initial weights, the order of the data, and what the model draws]:seed:' \
      '--checkpoint-every[steps between checkpoints; 0: only by time; the last step is always saved]:checkpoint-every:' \
      '--checkpoint-minutes[maximum minutes between checkpoints; 0: only by steps]:checkpoint-minutes:' \
      '--keep[number of recent checkpoints to keep; the one with the best score is kept as well]:keep:' \
      '--sample-every[steps between grids of samples with their score; 0: none]:sample-every:' \
      '--patience[end the run after N measurements in a row that are not the best so far; 0: do not]:patience:' \
      '--threads[number of threads; the weights do not depend on it]:threads:' \
      '--memory[fail if the run needs more memory than this, not counting mapped images]:memory:' \
      '--kernels[kernels to compute with; all give the same bits]:kernels:(scalar avx2 avx512 neon)' \
      '--init[begin with the weights of a run, an export or a safetensors file]:init:_files' \
      '--export[keep the newest checkpoint in DIR as leat export writes it]:export:_files' \
      '--width[channels of the layer at 32 x 32; deeper layers have 2, 4 and 8 times as many]:width:' \
      '--latent[size of a latent vector]:latent:' \
      '--schedule[simultaneous: both networks step at the same weights, as in distributed training; alternating: D steps first, G against the new D]:schedule:(simultaneous alternating)' \
      '--learning-rate[step size of Adam, for both networks]:learning-rate:' \
      '--beta1[decay rate of Adam'\''s first moment]:beta1:' \
      '--beta2[decay rate of Adam'\''s second moment]:beta2:' \
      '--resume[continue an interrupted run, or with more --steps a finished one, from its last checkpoint and with its settings]' \
      '--rewind[with --resume: continue from the checkpoint of this step, and move what is later to RUN/rewound-STEP]:rewind:' \
      '--dry-run[print parameters, memory, steps and the estimated time, and write nothing]' \
      '--replace[let --export overwrite the files of another export, or files of those names that leat did not write, once]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'train vgae')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--curriculum[rank benign graphs, at random or by the scores in FILE (leat eval --score difficulty --scores FILE), lowest first, and begin with the first tier of them]:curriculum:_files' \
      '--output[folder of the run; required without --dry-run]:output:_files' \
      '-o[folder of the run; required without --dry-run]:output:_files' \
      '--config[read settings from a YAML file, such as RUN/config.yaml; command-line options take precedence]:config:_files' \
      '--steps[steps to train, counted from the beginning of the run]:steps:' \
      '--epochs[train for E epochs: each has all graphs once]:epochs:' \
      '--units[units per step; in distributed training at most that many machines compute at once]:units:' \
      '--unit-size[batches of graphs per unit: at most that many threads compute at once]:unit-size:' \
      '--micro-batch[graphs for which a batch has room, where --max-nodes and --max-edges are not set]:micro-batch:' \
      '--codec-up[how gradients are rounded before they are added, as in distributed training]:codec-up:(f32 bf16 int8)' \
      '--codec-down[how weights are rounded before units are computed from them, as in distributed training]:codec-down:(f32 bf16)' \
      '--seed[seed of the initial weights, the order of the data, and what the model draws]:seed:' \
      '--checkpoint-every[steps between checkpoints; 0: only by time and where the model is measured; the last step is always saved]:checkpoint-every:' \
      '--checkpoint-minutes[maximum minutes between checkpoints; 0: only by steps]:checkpoint-minutes:' \
      '--keep[number of recent checkpoints to keep; the one that validation finds best is kept as well]:keep:' \
      '--sample-every[epochs between measurements on validation graphs; 0: none]:sample-every:' \
      '--patience[end the run after N measurements in a row that are not the best so far; 0: do not]:patience:' \
      '--threads[number of threads; the weights do not depend on it]:threads:' \
      '--memory[fail if the run needs more memory than this, not counting the mapped cache]:memory:' \
      '--kernels[kernels to compute with; all give the same bits]:kernels:(scalar avx2 avx512 neon)' \
      '--init[begin with the weights of a run, an export or a safetensors file]:init:_files' \
      '--export[keep the newest checkpoint in DIR as leat export writes it]:export:_files' \
      '--size[small: 4 heads of 16, latent vectors of 64 values; large: 4 heads of 32, 128 values]:size:(small large)' \
      '--dropout[share of activations that are 0 in training]:dropout:' \
      '--id-drop[share of nodes whose identifier is hidden in training, so that the embedding of unknown identifiers is trained]:id-drop:' \
      '--learning-rate[step size of Adam]:learning-rate:' \
      '--vocabulary[number of identifiers, with the unknown one (0: of the data)]:vocabulary:' \
      '--max-nodes[nodes of a micro-batch, at most (0: by the data)]:max-nodes:' \
      '--max-edges[edges of a micro-batch, at most (0: by the data)]:max-edges:' \
      '--pack[how graphs are packed into batches (see docs/can-graphs.md)]:pack:(ffd next-fit bucket fixed)' \
      '--batch[graphs per batch with --pack fixed]:batch:' \
      '--oversize[what to do with graphs that alone exceed --max-nodes or --max-edges]:oversize:(fail skip)' \
      '--min-steps[make batches smaller so that an epoch has at least N of them]:min-steps:' \
      '--scores-hash[number of the scores of a curriculum (0: of their file)]:scores-hash:' \
      '--tiers[tiers of the curriculum]:tiers:' \
      '--curriculum-epochs[epochs over which tiers are added]:curriculum-epochs:' \
      '--curriculum-start[where the ramp over --curriculum-epochs begins]:curriculum-start:' \
      '--curriculum-end[where the ramp ends; all tiers are in use then]:curriculum-end:' \
      '--resume[continue an interrupted run, or with more --steps a finished one, from its last checkpoint and with its settings]' \
      '--rewind[with --resume: continue from the checkpoint of this step, and move what is later to RUN/rewound-STEP]:rewind:' \
      '--dry-run[print parameters, memory, steps and the estimated time, and write nothing]' \
      '--replace[let --export overwrite the files of another export, or files of those names that leat did not write, once]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'train gat')
    shift 2 words
    ((CURRENT -= 2))
    _arguments '*:file:_files' \
      '--curriculum[rank benign graphs, at random or by the scores in FILE (leat eval --score difficulty --scores FILE), lowest first, and begin with the first tier of them]:curriculum:_files' \
      '--output[folder of the run; required without --dry-run]:output:_files' \
      '-o[folder of the run; required without --dry-run]:output:_files' \
      '--config[read settings from a YAML file, such as RUN/config.yaml; command-line options take precedence]:config:_files' \
      '--steps[steps to train, counted from the beginning of the run]:steps:' \
      '--epochs[train for E epochs: each has all graphs once]:epochs:' \
      '--units[units per step; in distributed training at most that many machines compute at once]:units:' \
      '--unit-size[batches of graphs per unit: at most that many threads compute at once]:unit-size:' \
      '--micro-batch[graphs for which a batch has room, where --max-nodes and --max-edges are not set]:micro-batch:' \
      '--codec-up[how gradients are rounded before they are added, as in distributed training]:codec-up:(f32 bf16 int8)' \
      '--codec-down[how weights are rounded before units are computed from them, as in distributed training]:codec-down:(f32 bf16)' \
      '--seed[seed of the initial weights, the order of the data, and what the model draws]:seed:' \
      '--checkpoint-every[steps between checkpoints; 0: only by time and where the model is measured; the last step is always saved]:checkpoint-every:' \
      '--checkpoint-minutes[maximum minutes between checkpoints; 0: only by steps]:checkpoint-minutes:' \
      '--keep[number of recent checkpoints to keep; the one that validation finds best is kept as well]:keep:' \
      '--sample-every[epochs between measurements on validation graphs; 0: none]:sample-every:' \
      '--patience[end the run after N measurements in a row that are not the best so far; 0: do not]:patience:' \
      '--threads[number of threads; the weights do not depend on it]:threads:' \
      '--memory[fail if the run needs more memory than this, not counting the mapped cache]:memory:' \
      '--kernels[kernels to compute with; all give the same bits]:kernels:(scalar avx2 avx512 neon)' \
      '--init[begin with the weights of a run, an export or a safetensors file]:init:_files' \
      '--export[keep the newest checkpoint in DIR as leat export writes it]:export:_files' \
      '--size[small: 2 layers of 4 heads, 200,000 weights; large: 3 layers of 8 heads, 9.5 million]:size:(small large)' \
      '--loss[focal: graphs that are hard weigh more; ce: cross-entropy; weighted: an attack weighs as much as 5 benign graphs]:loss:(focal ce weighted)' \
      '--dropout[share of activations that are 0 in training]:dropout:' \
      '--id-drop[share of nodes whose identifier is hidden in training, so that the embedding of unknown identifiers is trained]:id-drop:' \
      '--learning-rate[step size of Adam]:learning-rate:' \
      '--vocabulary[number of identifiers, with the unknown one (0: of the data)]:vocabulary:' \
      '--max-nodes[nodes of a micro-batch, at most (0: by the data)]:max-nodes:' \
      '--max-edges[edges of a micro-batch, at most (0: by the data)]:max-edges:' \
      '--pack[how graphs are packed into batches (see docs/can-graphs.md)]:pack:(ffd next-fit bucket fixed)' \
      '--batch[graphs per batch with --pack fixed]:batch:' \
      '--oversize[what to do with graphs that alone exceed --max-nodes or --max-edges]:oversize:(fail skip)' \
      '--min-steps[make batches smaller so that an epoch has at least N of them]:min-steps:' \
      '--scores-hash[number of the scores of a curriculum (0: of their file)]:scores-hash:' \
      '--tiers[tiers of the curriculum]:tiers:' \
      '--curriculum-epochs[epochs over which tiers are added]:curriculum-epochs:' \
      '--curriculum-start[where the ramp over --curriculum-epochs begins]:curriculum-start:' \
      '--curriculum-end[where the ramp ends; all tiers are in use then]:curriculum-end:' \
      '--resume[continue an interrupted run, or with more --steps a finished one, from its last checkpoint and with its settings]' \
      '--rewind[with --resume: continue from the checkpoint of this step, and move what is later to RUN/rewound-STEP]:rewind:' \
      '--dry-run[print parameters, memory, steps and the estimated time, and write nothing]' \
      '--replace[let --export overwrite the files of another export, or files of those names that leat did not write, once]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'eval'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--target-fpr[share of benign validation windows that may alarm]:target-fpr:' \
      '--threshold[what thresholds are fitted to on validation windows: --target-fpr, or the best F1]:threshold:(fpr f1)' \
      '--score[score of a VGAE'\''s window; a GAT has its probability of an attack]:score:(residual reference difficulty)' \
      '--split[split of the cache]:split:_leat_splits' \
      '--step[step of the checkpoint]:step:' \
      '--replicates[replicates of the bootstrap, from which intervals come; 0: no intervals]:replicates:' \
      '--block-windows[consecutive windows that the bootstrap draws together]:block-windows:' \
      '--bootstrap-seed[seed of the bootstrap]:bootstrap-seed:' \
      '--threads[number of threads; no number depends on it]:threads:' \
      '--kernels[variant of the kernels; no number depends on it]:kernels:_files' \
      '--scores[write the score of every window of --split (default: train) to FILE as JSON, and no table; a FILE that exists is overwritten with --replace alone]:scores:_files' \
      '--parts[also list attack types, vehicles and captures; --json and --html always do]' \
      '--json[write one JSON document to stdout]' \
      '--html[also write a page with curves, scores over time and what was blamed: one self-contained file, without scripts or network access]:html:_files' \
      '--figures[write each figure of the page to DIR as SVG, and its numbers as CSV; DIR may hold figures that leat wrote, and no other files]:figures:_files' \
      '--replace[overwrite existing files even if leat did not write them, and let --figures write to a folder that holds other files]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'detect'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--format[format of the logs; auto detects it from the contents]:format:(auto csv hcrl hcrl-text survival gvret candump crysys asc trc vehicle-spy openxc busmaster cl2000 canking)' \
      '--column[read the logs as csv with these columns, separated by commas, by name or number: time=T:ms,id=ID:dec,bus=B,dlc=N,data=D0..D7,label=L or L+M, attack for the types of attacks if another column has them, and extended, remote, error; after a colon time takes s, ms, us, ns or gap, id hex or dec, dlc bytes or bits, data hex, dec, bits or base64]:column:_files' \
      '--times[read times as those of a clock, or as gaps from one frame to the next, which are added up; auto reads a clock, and refuses logs where more than a quarter of the times are earlier than the one before]:times:(auto clock gap)' \
      '--no-time[read csv without times, as if they had this many frames per second]:no-time:' \
      '--bus[follow each bus by itself, all of them as one, or only one; run: as the cache that the run was trained on]:bus:' \
      '--stride[frames from one window to the next; run: as the cache that the run was trained on]:stride:' \
      '--from[frame with which the first window begins, in each bus of the first recording]:from:' \
      '--alarms-per-minute[alarms to report in a minute of bus time; others are counted (0: report all)]:alarms-per-minute:' \
      '--all[write a line for each window]' \
      '--threshold[what thresholds are fitted to on validation windows: --target-fpr, or the best F1]:threshold:(fpr f1)' \
      '--target-fpr[share of benign validation windows that may alarm]:target-fpr:' \
      '--score[score of a VGAE'\''s window; a GAT has its probability of an attack]:score:(residual reference difficulty)' \
      '--step[step of the checkpoint]:step:' \
      '--kernels[variant of the kernels; no number depends on it]:kernels:_files' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'sample'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--output[PNG to write: the images in rows of 8]:output:_files' \
      '-o[PNG to write: the images in rows of 8]:output:_files' \
      '--count[number of images]:count:' \
      '--seed[seed of the latent vectors]:seed:' \
      '--step[step of the checkpoint to use]:step:' \
      '--threads[number of threads; the images do not depend on it]:threads:' \
      '--replace[overwrite an existing file even if leat did not write it]' \
      '--json[write one JSON document to stdout]' \
      '--help[show this text]' ;;
  'export'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--output[folder to write]:output:_files' \
      '-o[folder to write]:output:_files' \
      '--step[step of the checkpoint to use]:step:' \
      '--replace[overwrite the files of an earlier export in DIR]' \
      '--help[show this text]' ;;
  'import'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--output[run folder to create]:output:_files' \
      '-o[run folder to create]:output:_files' \
      '--data[the data that the weights are for; leat eval and leat detect need those of a detector (a cache)]:data:_files' \
      '--help[show this text]' ;;
  'coordinate'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--db[PostgreSQL database, 13 or newer, in which this login may create a schema, or - or @FILE to read the URL; "local": a private server in RUN/database]:db:(local)' \
      '--data[data set, the same that the workers have unless --serve-data is given]:data:_files' \
      '--model[what to train]:model:_files' \
      '--name[name of the run in the database]:name:_files' \
      '--config[read settings from a YAML file; command-line options take precedence]:config:_files' \
      '--steps[steps to train, counted from the beginning of the run]:steps:' \
      '--epochs[train for E epochs: ceil(E x samples / samples per step) steps]:epochs:' \
      '--units[units per step; in distributed training at most that many machines compute at once]:units:' \
      '--unit-size[samples per unit, a multiple of --micro-batch]:unit-size:' \
      '--micro-batch[samples that are computed at once]:micro-batch:' \
      '--codec-up[how gradients are rounded before they are added, as in distributed training]:codec-up:(f32 bf16 int8)' \
      '--codec-down[how weights are rounded before units are computed from them, as in distributed training]:codec-down:(f32 bf16)' \
      '--seed[seed of the initial weights, the order of the data, and what the model draws]:seed:' \
      '--checkpoint-every[steps between checkpoints; 0: only by time; the last step is always saved]:checkpoint-every:' \
      '--checkpoint-minutes[maximum minutes between checkpoints; 0: only by steps]:checkpoint-minutes:' \
      '--keep[number of recent checkpoints to keep; the best one is kept as well]:keep:' \
      '--sample-every[steps between measurements of the model; 0: none]:sample-every:' \
      '--patience[end the run after N measurements in a row that are not the best so far; 0: do not]:patience:' \
      '--threads[number of threads; the weights do not depend on it]:threads:' \
      '--memory[fail if the run needs more memory than this, not counting mapped data]:memory:' \
      '--kernels[kernels to compute with; all give the same bits]:kernels:(scalar avx2 avx512 neon)' \
      '--init[begin with the weights of a run, an export or a safetensors file]:init:_files' \
      '--export[keep the newest checkpoint in DIR as leat export writes it]:export:_files' \
      '--width[channels of the layer at 32 x 32; deeper layers have 2, 4 and 8 times as many]:width:' \
      '--latent[size of a latent vector]:latent:' \
      '--schedule[simultaneous: both networks step at the same weights, as in distributed training; alternating: D steps first, G against the new D]:schedule:(simultaneous alternating)' \
      '--learning-rate[step size of Adam, for both networks]:learning-rate:' \
      '--beta1[decay rate of Adam'\''s first moment]:beta1:' \
      '--beta2[decay rate of Adam'\''s second moment]:beta2:' \
      '--size[small: 4 heads of 16, latent vectors of 64 values; large: 4 heads of 32, 128 values]:size:(small large)' \
      '--dropout[share of activations that are 0 in training]:dropout:' \
      '--id-drop[share of nodes whose identifier is hidden in training, so that the embedding of unknown identifiers is trained]:id-drop:' \
      '--vocabulary[number of identifiers, with the unknown one (0: of the data)]:vocabulary:' \
      '--max-nodes[nodes of a micro-batch, at most (0: by the data)]:max-nodes:' \
      '--max-edges[edges of a micro-batch, at most (0: by the data)]:max-edges:' \
      '--pack[how graphs are packed into batches (see docs/can-graphs.md)]:pack:(ffd next-fit bucket fixed)' \
      '--batch[graphs per batch with --pack fixed]:batch:' \
      '--oversize[what to do with graphs that alone exceed --max-nodes or --max-edges]:oversize:(fail skip)' \
      '--min-steps[make batches smaller so that an epoch has at least N of them]:min-steps:' \
      '--curriculum[rank benign graphs, and begin with the first tier of them]:curriculum:(none random scores)' \
      '--scores-hash[number of the scores of a curriculum (0: of their file)]:scores-hash:' \
      '--tiers[tiers of the curriculum]:tiers:' \
      '--curriculum-epochs[epochs over which tiers are added]:curriculum-epochs:' \
      '--curriculum-start[where the ramp over --curriculum-epochs begins]:curriculum-start:' \
      '--curriculum-end[where the ramp ends; all tiers are in use then]:curriculum-end:' \
      '--loss[focal: graphs that are hard weigh more; ce: cross-entropy; weighted: an attack weighs as much as 5 benign graphs]:loss:(focal ce weighted)' \
      '--lease-ms[milliseconds that a unit is reserved for a machine, from its last sign of life]:lease-ms:' \
      '--renew-ms[milliseconds between two signs of life of a worker]:renew-ms:' \
      '--silent-ms[milliseconds without a sign of life after which another machine gets a copy of the unit]:silent-ms:' \
      '--hold-ms[milliseconds that the run is reserved for this coordinator, each time; another one waits that long before it takes over]:hold-ms:' \
      '--poll-ms[milliseconds between looks at what has arrived]:poll-ms:' \
      '--state-ms[minimum milliseconds between copies of the state in the database]:state-ms:' \
      '--part-bytes[size of the parts in which weights and results travel]:part-bytes:' \
      '--outlier[recompute a unit whose gradient or statistics have more than N times their usual norm]:outlier:' \
      '--data-note[what a machine without the data set is told, such as where to download it]:data-note:_files' \
      '--listen[with --db local: let volunteers connect to this address or name of this machine, over TLS; leat invite creates their logins]:listen:_files' \
      '--serve-data[keep the data set in the database, for machines without it; every login can read it]' \
      '--resume[continue a run: from its folder, from the database, or from what is left of them]' \
      '--roles-sql[print SQL, for a server'\''s superuser, that revokes rights that volunteers do not need, and exit (--db local does this itself)]' \
      '--plan[simulate the run on this many machines with several values of --units and --unit-size, print how long a step takes and how much of what is computed counts, and exit; needs only --data]:plan:' \
      '--uplink[with --plan: upload rate of each machine'\''s link, in bits per second, such as 10Mbit]:uplink:_files' \
      '--downlink[with --plan: download rate of each machine'\''s link]:downlink:_files' \
      '--server-link[with --plan: rate of the database'\''s link, in each direction, which all machines share]:server-link:_files' \
      '--unit-seconds[with --plan: seconds that a usual machine needs for a unit of --unit-size]:unit-seconds:' \
      '--spread[with --plan: standard deviation of the logarithm of the machines'\'' speeds]:spread:' \
      '--replace[let --export overwrite the files of another export, or files of those names that leat did not write, once]' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'work'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--data[data set of the run; its fingerprint must be the run'\''s]:data:_files' \
      '--name[name in the list of workers]:name:_files' \
      '--key[identity and secret of this machine, created if it is missing; do not copy it to another machine. If another process uses it, the next free one of NAME-2.key, NAME-3.key, ...]:key:_files' \
      '--threads[number of threads]:threads:' \
      '--memory[refuse a run that needs more memory than this, weights and results included]:memory:' \
      '--kernels[kernels to compute with; all give the same bits]:kernels:(scalar avx2 avx512 neon)' \
      '--on-battery[what to do while this machine runs on battery]:on-battery:(pause work)' \
      '--quiet-hours[take no units between these times of the local day; several spans with commas between them]:quiet-hours:_files' \
      '--nice[give way to other programs]' \
      '--once[end after one unit]' \
      '--poll-ms[milliseconds between questions while there is nothing to do; a new step wakes it before that]:poll-ms:' \
      '--json[write one JSON document to stdout]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'invite'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--db[database, with the login of its owner or of a superuser, or - or @FILE to read the URL]:db:_files' \
      '--run[run that the ticket is for]:run:_files' \
      '--machines[machines that may use this login at the same time; it gets one more connection, for checks and for leat status. For a login that already exists, this option alone changes the number, and its ticket stays valid]:machines:' \
      '--new-password[print another ticket for a login that was invited before; the earlier one no longer works, and its sessions are ended]' \
      '--help[show this text]' ;;
  'revoke'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--db[database, with the login that invited, or - or @FILE to read the URL]:db:_files' \
      '--help[show this text]' ;;
  'status'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--db[database of the run, as leat coordinate printed it, or a ticket, or - or @FILE to read either; ?run=NAME in the URL chooses one of several]:db:_files' \
      '--json[write one JSON document to stdout]' \
      '--help[show this text]' ;;
  'dash'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--db[database of the run, as leat coordinate printed it, or a ticket, or - or @FILE to read either; ?run=NAME in the URL chooses one of several]:db:_files' \
      '--listen[where to serve the page; beyond this machine, such as at 0.0.0.0:8501, only with the printed address, which contains a token]:listen:_files' \
      '--metrics[also serve /metrics, numbers for Prometheus]' \
      '--quiet[do not report progress on stderr, which is otherwise a line on a terminal and one line a minute elsewhere]' \
      '--help[show this text]' ;;
  'doctor'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--db[check this PostgreSQL database instead of this machine: whether runs can be coordinated or worked on with its login; - or @FILE: read the URL]:db:_files' \
      '--workers[number of workers that the database must take; needs --db]:workers:' \
      '--json[write one JSON document to stdout]' \
      '--temp[folder that an ingest will write to; its free space is checked, and it must be writable]:temp:_files' \
      '--kernels=-[test the kernels that models are trained with, and measure those that are used; with a name, test and measure these]::kernels:(scalar avx2 avx512 neon)' \
      '--hash[print only the hashes of the kernels'\'' self-test, which are the same on all processors]' \
      '--help[show this text]' ;;
  'version'\ *)
    shift 1 words
    ((CURRENT -= 1))
    _arguments '*:file:_files' \
      '--json[write one JSON document to stdout]' \
      '--help[show this text]' ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _leat "$@"
else
  compdef _leat leat
fi
