_leat_splits() {
  local data file all=1
  if [[ ${COMP_WORDS[1]} == cat ]]; then all=; fi
  for data in "${COMP_WORDS[@]:1}"; do
    [[ -d $data ]] || continue
    if [[ -n $all && -f $data/manifest.json ]]; then
      printf '%s\n' train test all
    fi
    [[ -f $data/vocab.json ]] || continue
    for file in "$data"/*.safetensors; do
      file=${file##*/}
      printf '%s\n' "${file%.safetensors}"
    done
    if [[ -n $all ]]; then printf 'all\n'; fi
  done
}
_leat() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local options= values= equals= first=1 one
  COMPREPLY=()
  # "=" is a word of its own
  if [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]} equals=1
  fi
  if [[ $word == '=' ]]; then word= equals=1; fi
  if [[ ${COMP_WORDS[1]} == help ]] && ((COMP_CWORD > 1)); then
    first=2
    compopt +o default  # a command follows, not a file
  fi
  if ((COMP_CWORD == first)); then
    values=' ingest inspect cat batches synth train eval detect sample export import coordinate work invite revoke status dash doctor version'
    if ((first == 1)); then values="--help --version help$values"; fi
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    return
  fi
  case "${COMP_WORDS[first]} ${COMP_WORDS[first + 1]}" in
  'ingest probes')
    options='--help --output --column --memory --threads --seed --train-ratio --split --max-row-size --shards --probes-per-shard --compression --dictionary-src --zero-address --address --probe --lost --per-packet --duplicates --strict --temp --spill --resume --replace --verify --json --quiet'
    case $before in
    -o | --output) values=file ;;
    --column) values=file ;;
    --memory) values=number ;;
    --threads) values=number ;;
    --seed) values=number ;;
    --train-ratio) values=number ;;
    --split) values='hash ordered' ;;
    --max-row-size) values=number ;;
    --shards) values=number ;;
    --probes-per-shard) values=number ;;
    --compression) values=file ;;
    --address) values='auto written canonical' ;;
    --probe) values='address' ;;
    --lost) values=file ;;
    --duplicates) values='keep drop' ;;
    --temp) values=file ;;
    --spill) values='auto always' ;;
    esac ;;
  'ingest can')
    options='--help --output --dataset --train --test --preset --format --window --stride --captures --clock-steps --bus --payload --can-fd --identifiers --val-split --val-fraction --edge-step --self-loops --attack-type --attack-codes --unlabelled --vocab --scaler --store --seed --column --times --no-time --allow-overlap --memory --threads --max-rejected --resume --replace --verify --temp --like --stage --json --quiet'
    case $before in
    -o | --output) values=file ;;
    --dataset) values='hcrl_ch hcrl_sa set_01 set_02 set_03 set_04' ;;
    --train) values=file ;;
    --test) values=file ;;
    --preset) values='default reference' ;;
    --format) values='auto csv hcrl hcrl-text survival gvret candump crysys asc trc vehicle-spy openxc busmaster cl2000 canking' ;;
    --window) values=number ;;
    --stride) values=number ;;
    --captures) values='separate merged' ;;
    --clock-steps) values='split sort split:SECONDS' ;;
    --bus) values=number ;;
    --payload) values='strict lenient' ;;
    --can-fd) values='cut refuse' ;;
    --identifiers) values='canonical written' ;;
    --val-split) values='blocks random' ;;
    --val-fraction) values=number ;;
    --edge-step) values='previous own' ;;
    --self-loops) values='count ignore' ;;
    --attack-type) values='frame file' ;;
    --attack-codes) values='long short' ;;
    --unlabelled) values='by-name benign unknown benign-lines' ;;
    --vocab) values='train all benign' ;;
    --scaler) values='z_benign z_all robust_benign none' ;;
    --store) values='features frames' ;;
    --seed) values=number ;;
    --column) values=file ;;
    --times) values='auto clock gap' ;;
    --no-time) values=number ;;
    --memory) values=number ;;
    --threads) values=number ;;
    --max-rejected) values=number ;;
    --temp) values=file ;;
    --like) values=file ;;
    --stage) values=file ;;
    esac ;;
  'ingest images')
    options='--help --output --size --background --include --exclude --max-rejected --memory --threads --strict --resume --replace --json --quiet'
    case $before in
    -o | --output) values=file ;;
    --size) values=number ;;
    --background) values='drop white black' ;;
    --include) values=file ;;
    --exclude) values=file ;;
    --max-rejected) values=number ;;
    --memory) values=number ;;
    --threads) values=number ;;
    esac ;;
  'inspect'\ *)
    options='--help --json --html --figures --replace --rows --read --verify --memory --threads --quiet'
    case $before in
    --html) values=file ;;
    --figures) values=file ;;
    --rows) values=number ;;
    --read) values=number ;;
    --memory) values=number ;;
    --threads) values=number ;;
    esac ;;
  'cat'\ *)
    options='--help --format --rows --src --graph --split --scale --image --output --replace --memory --quiet'
    case $before in
    -f | --format) values='ndjson csv words' ;;
    --rows) values=file ;;
    --src) values=file ;;
    --graph) values=file ;;
    --split) values=splits ;;
    --scale) values='none stored' ;;
    --image) values=file ;;
    -o | --output) values=file ;;
    --memory) values=number ;;
    esac ;;
  'batches'\ *)
    options='--help --json --split --sampler --length --seed --timestamp-modes --field-order --packing --tail --boundary --by --batch --client-weights --clients-per-round --steps-per-round --epochs --host --hosts --threads --memory --prefetch --order --io --on-corrupt --addresses --rows --steps --hash --time --words --explain --report --figures --replace --resume --save-state --curriculum --graphs --pack --batch --max-nodes --max-edges --oversize --min-steps --tiers --curriculum-start --curriculum-end --epochs --preset --order --scale --device-memory --model --batch --as --order --stage --quiet'
    case $before in
    --split) values=splits ;;
    --sampler) values='plan3 plan2 all' ;;
    --length) values=number ;;
    --seed) values=number ;;
    --timestamp-modes) values=file ;;
    --field-order) values='random content' ;;
    --packing) values='fill none' ;;
    --tail) values='cut pad' ;;
    --boundary) values='mask cross' ;;
    --by) values='client' ;;
    --batch) values=number ;;
    --client-weights) values=file ;;
    --clients-per-round) values=number ;;
    --steps-per-round) values=number ;;
    --epochs) values=number ;;
    --host) values=number ;;
    --hosts) values=number ;;
    --threads) values=number ;;
    --memory) values=number ;;
    --prefetch) values=number ;;
    --order) values='global windowed' ;;
    --io) values='mmap pread' ;;
    --on-corrupt) values='fail mask' ;;
    --addresses) values=file ;;
    --rows) values=file ;;
    --steps) values=file ;;
    --hash) [[ -z $equals ]] || values='all rows' ;;
    --explain) values=number ;;
    --report) values=file ;;
    --figures) values=file ;;
    --resume) values=file ;;
    --save-state) values=file ;;
    --curriculum) values=file ;;
    --graphs) values='all benign attack labelled' ;;
    --pack) values='ffd next-fit bucket fixed' ;;
    --batch) values=number ;;
    --max-nodes) values=number ;;
    --max-edges) values=number ;;
    --oversize) values='skip alone fail' ;;
    --min-steps) values=number ;;
    --tiers) values=number ;;
    --curriculum-start) values=number ;;
    --curriculum-end) values=number ;;
    --epochs) values=number ;;
    --preset) values='default reference' ;;
    --order) values='global windowed' ;;
    --scale) values='stored none' ;;
    --device-memory) values=number ;;
    --model) values='vgae vgae-large gat gat-large' ;;
    --batch) values=number ;;
    --as) values='u8 float' ;;
    --order) values='global windowed' ;;
    --stage) values=file ;;
    esac ;;
  'synth probes')
    options='--help --measurements --output --probes --seed --rows-per-file --threads --memory --replace --json --quiet'
    case $before in
    -n | --measurements) values=number ;;
    -o | --output) values=file ;;
    -p | --probes) values=number ;;
    --seed) values=number ;;
    --rows-per-file) values=number ;;
    --threads) values=number ;;
    --memory) values=number ;;
    esac ;;
  'synth can')
    options='--help --frames --output --vehicles --attacks --seed --threads --replace --json --quiet'
    case $before in
    -n | --frames) values=number ;;
    -o | --output) values=file ;;
    --vehicles) values=number ;;
    --attacks) values=file ;;
    --seed) values=number ;;
    --threads) values=number ;;
    esac ;;
  'synth images')
    options='--help --count --output --seed --threads --replace --json --quiet'
    case $before in
    -n | --count) values=number ;;
    -o | --output) values=file ;;
    --seed) values=number ;;
    --threads) values=number ;;
    esac ;;
  'train dcgan')
    options='--help --output --config --steps --epochs --units --unit-size --micro-batch --codec-up --codec-down --seed --checkpoint-every --checkpoint-minutes --keep --sample-every --patience --threads --memory --kernels --init --export --width --latent --schedule --learning-rate --beta1 --beta2 --resume --rewind --dry-run --replace --json --quiet'
    case $before in
    -o | --output) values=file ;;
    --config) values=file ;;
    --steps) values=number ;;
    --epochs) values=number ;;
    --units) values=number ;;
    --unit-size) values=number ;;
    --micro-batch) values=number ;;
    --codec-up) values='f32 bf16 int8' ;;
    --codec-down) values='f32 bf16' ;;
    --seed) values=number ;;
    --checkpoint-every) values=number ;;
    --checkpoint-minutes) values=number ;;
    --keep) values=number ;;
    --sample-every) values=number ;;
    --patience) values=number ;;
    --threads) values=number ;;
    --memory) values=number ;;
    --kernels) values='scalar avx2 avx512 neon' ;;
    --init) values=file ;;
    --export) values=file ;;
    --width) values=number ;;
    --latent) values=number ;;
    --schedule) values='simultaneous alternating' ;;
    --learning-rate) values=number ;;
    --beta1) values=number ;;
    --beta2) values=number ;;
    --rewind) values=number ;;
    esac ;;
  'train vgae')
    options='--help --curriculum --output --config --steps --epochs --units --unit-size --micro-batch --codec-up --codec-down --seed --checkpoint-every --checkpoint-minutes --keep --sample-every --patience --threads --memory --kernels --init --export --size --dropout --id-drop --learning-rate --vocabulary --max-nodes --max-edges --pack --batch --oversize --min-steps --scores-hash --tiers --curriculum-epochs --curriculum-start --curriculum-end --resume --rewind --dry-run --replace --json --quiet'
    case $before in
    --curriculum) values=file ;;
    -o | --output) values=file ;;
    --config) values=file ;;
    --steps) values=number ;;
    --epochs) values=number ;;
    --units) values=number ;;
    --unit-size) values=number ;;
    --micro-batch) values=number ;;
    --codec-up) values='f32 bf16 int8' ;;
    --codec-down) values='f32 bf16' ;;
    --seed) values=number ;;
    --checkpoint-every) values=number ;;
    --checkpoint-minutes) values=number ;;
    --keep) values=number ;;
    --sample-every) values=number ;;
    --patience) values=number ;;
    --threads) values=number ;;
    --memory) values=number ;;
    --kernels) values='scalar avx2 avx512 neon' ;;
    --init) values=file ;;
    --export) values=file ;;
    --size) values='small large' ;;
    --dropout) values=number ;;
    --id-drop) values=number ;;
    --learning-rate) values=number ;;
    --vocabulary) values=number ;;
    --max-nodes) values=number ;;
    --max-edges) values=number ;;
    --pack) values='ffd next-fit bucket fixed' ;;
    --batch) values=number ;;
    --oversize) values='fail skip' ;;
    --min-steps) values=number ;;
    --scores-hash) values=number ;;
    --tiers) values=number ;;
    --curriculum-epochs) values=number ;;
    --curriculum-start) values=number ;;
    --curriculum-end) values=number ;;
    --rewind) values=number ;;
    esac ;;
  'train gat')
    options='--help --curriculum --output --config --steps --epochs --units --unit-size --micro-batch --codec-up --codec-down --seed --checkpoint-every --checkpoint-minutes --keep --sample-every --patience --threads --memory --kernels --init --export --size --loss --dropout --id-drop --learning-rate --vocabulary --max-nodes --max-edges --pack --batch --oversize --min-steps --scores-hash --tiers --curriculum-epochs --curriculum-start --curriculum-end --resume --rewind --dry-run --replace --json --quiet'
    case $before in
    --curriculum) values=file ;;
    -o | --output) values=file ;;
    --config) values=file ;;
    --steps) values=number ;;
    --epochs) values=number ;;
    --units) values=number ;;
    --unit-size) values=number ;;
    --micro-batch) values=number ;;
    --codec-up) values='f32 bf16 int8' ;;
    --codec-down) values='f32 bf16' ;;
    --seed) values=number ;;
    --checkpoint-every) values=number ;;
    --checkpoint-minutes) values=number ;;
    --keep) values=number ;;
    --sample-every) values=number ;;
    --patience) values=number ;;
    --threads) values=number ;;
    --memory) values=number ;;
    --kernels) values='scalar avx2 avx512 neon' ;;
    --init) values=file ;;
    --export) values=file ;;
    --size) values='small large' ;;
    --loss) values='focal ce weighted' ;;
    --dropout) values=number ;;
    --id-drop) values=number ;;
    --learning-rate) values=number ;;
    --vocabulary) values=number ;;
    --max-nodes) values=number ;;
    --max-edges) values=number ;;
    --pack) values='ffd next-fit bucket fixed' ;;
    --batch) values=number ;;
    --oversize) values='fail skip' ;;
    --min-steps) values=number ;;
    --scores-hash) values=number ;;
    --tiers) values=number ;;
    --curriculum-epochs) values=number ;;
    --curriculum-start) values=number ;;
    --curriculum-end) values=number ;;
    --rewind) values=number ;;
    esac ;;
  'eval'\ *)
    options='--help --target-fpr --threshold --score --split --step --replicates --block-windows --bootstrap-seed --threads --kernels --scores --parts --json --html --figures --replace --quiet'
    case $before in
    --target-fpr) values=number ;;
    --threshold) values='fpr f1' ;;
    --score) values='residual reference difficulty' ;;
    --split) values=splits ;;
    --step) values=number ;;
    --replicates) values=number ;;
    --block-windows) values=number ;;
    --bootstrap-seed) values=number ;;
    --threads) values=number ;;
    --kernels) values=file ;;
    --scores) values=file ;;
    --html) values=file ;;
    --figures) values=file ;;
    esac ;;
  'detect'\ *)
    options='--help --format --column --times --no-time --bus --stride --from --alarms-per-minute --all --threshold --target-fpr --score --step --kernels --quiet'
    case $before in
    --format) values='auto csv hcrl hcrl-text survival gvret candump crysys asc trc vehicle-spy openxc busmaster cl2000 canking' ;;
    --column) values=file ;;
    --times) values='auto clock gap' ;;
    --no-time) values=number ;;
    --bus) values=number ;;
    --stride) values=number ;;
    --from) values=number ;;
    --alarms-per-minute) values=number ;;
    --threshold) values='fpr f1' ;;
    --target-fpr) values=number ;;
    --score) values='residual reference difficulty' ;;
    --step) values=number ;;
    --kernels) values=file ;;
    esac ;;
  'sample'\ *)
    options='--help --output --count --seed --step --threads --replace --json'
    case $before in
    -o | --output) values=file ;;
    --count) values=number ;;
    --seed) values=number ;;
    --step) values=number ;;
    --threads) values=number ;;
    esac ;;
  'export'\ *)
    options='--help --output --step --replace'
    case $before in
    -o | --output) values=file ;;
    --step) values=number ;;
    esac ;;
  'import'\ *)
    options='--help --output --data'
    case $before in
    -o | --output) values=file ;;
    --data) values=file ;;
    esac ;;
  'coordinate'\ *)
    options='--help --db --data --model --name --config --steps --epochs --units --unit-size --micro-batch --codec-up --codec-down --seed --checkpoint-every --checkpoint-minutes --keep --sample-every --patience --threads --memory --kernels --init --export --width --latent --schedule --learning-rate --beta1 --beta2 --size --dropout --id-drop --vocabulary --max-nodes --max-edges --pack --batch --oversize --min-steps --curriculum --scores-hash --tiers --curriculum-epochs --curriculum-start --curriculum-end --loss --lease-ms --renew-ms --silent-ms --hold-ms --poll-ms --state-ms --part-bytes --outlier --data-note --listen --serve-data --resume --roles-sql --plan --uplink --downlink --server-link --unit-seconds --spread --replace --json --quiet'
    case $before in
    --db) values='local' ;;
    --data) values=file ;;
    --model) values=file ;;
    --name) values=file ;;
    --config) values=file ;;
    --steps) values=number ;;
    --epochs) values=number ;;
    --units) values=number ;;
    --unit-size) values=number ;;
    --micro-batch) values=number ;;
    --codec-up) values='f32 bf16 int8' ;;
    --codec-down) values='f32 bf16' ;;
    --seed) values=number ;;
    --checkpoint-every) values=number ;;
    --checkpoint-minutes) values=number ;;
    --keep) values=number ;;
    --sample-every) values=number ;;
    --patience) values=number ;;
    --threads) values=number ;;
    --memory) values=number ;;
    --kernels) values='scalar avx2 avx512 neon' ;;
    --init) values=file ;;
    --export) values=file ;;
    --width) values=number ;;
    --latent) values=number ;;
    --schedule) values='simultaneous alternating' ;;
    --learning-rate) values=number ;;
    --beta1) values=number ;;
    --beta2) values=number ;;
    --size) values='small large' ;;
    --dropout) values=number ;;
    --id-drop) values=number ;;
    --vocabulary) values=number ;;
    --max-nodes) values=number ;;
    --max-edges) values=number ;;
    --pack) values='ffd next-fit bucket fixed' ;;
    --batch) values=number ;;
    --oversize) values='fail skip' ;;
    --min-steps) values=number ;;
    --curriculum) values='none random scores' ;;
    --scores-hash) values=number ;;
    --tiers) values=number ;;
    --curriculum-epochs) values=number ;;
    --curriculum-start) values=number ;;
    --curriculum-end) values=number ;;
    --loss) values='focal ce weighted' ;;
    --lease-ms) values=number ;;
    --renew-ms) values=number ;;
    --silent-ms) values=number ;;
    --hold-ms) values=number ;;
    --poll-ms) values=number ;;
    --state-ms) values=number ;;
    --part-bytes) values=number ;;
    --outlier) values=number ;;
    --data-note) values=file ;;
    --listen) values=file ;;
    --plan) values=number ;;
    --uplink) values=file ;;
    --downlink) values=file ;;
    --server-link) values=file ;;
    --unit-seconds) values=number ;;
    --spread) values=number ;;
    esac ;;
  'work'\ *)
    options='--help --data --name --key --threads --memory --kernels --on-battery --quiet-hours --nice --once --poll-ms --json --quiet'
    case $before in
    --data) values=file ;;
    --name) values=file ;;
    --key) values=file ;;
    --threads) values=number ;;
    --memory) values=number ;;
    --kernels) values='scalar avx2 avx512 neon' ;;
    --on-battery) values='pause work' ;;
    --quiet-hours) values=file ;;
    --poll-ms) values=number ;;
    esac ;;
  'invite'\ *)
    options='--help --db --run --machines --new-password'
    case $before in
    --db) values=file ;;
    --run) values=file ;;
    --machines) values=number ;;
    esac ;;
  'revoke'\ *)
    options='--help --db'
    case $before in
    --db) values=file ;;
    esac ;;
  'status'\ *)
    options='--help --db --json'
    case $before in
    --db) values=file ;;
    esac ;;
  'dash'\ *)
    options='--help --db --listen --metrics --quiet'
    case $before in
    --db) values=file ;;
    --listen) values=file ;;
    esac ;;
  'doctor'\ *)
    options='--help --db --workers --json --temp --kernels --hash'
    case $before in
    --db) values=file ;;
    --workers) values=number ;;
    --temp) values=file ;;
    --kernels) [[ -z $equals ]] || values='scalar avx2 avx512 neon' ;;
    esac ;;
  'version'\ *)
    options='--help --json'
    case $before in
    esac ;;
  esac
  if ((COMP_CWORD == first + 1)); then
    case ${COMP_WORDS[first]} in
    ingest) values='probes can images' ;;
    synth) values='probes can images' ;;
    train) values='dcgan vgae gat' ;;
    esac
  fi
  case $values in
  number) compopt +o default ;;
  splits)
    compopt +o default
    while IFS= read -r one; do
      printf -v one %q "$one"
      if [[ $one == "$word"* ]]; then COMPREPLY+=("$one"); fi
    done < <(_leat_splits) ;;
  file) ;;
  '') if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  fi ;;
  *) COMPREPLY=($(compgen -W "$values" -- "$word")) ;;
  esac
}
complete -o default -F _leat leat
