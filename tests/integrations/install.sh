#!/usr/bin/env bash
# Builds the environment of one consumer whose pins conflict with those of others:
#   tests/integrations/install.sh <folder> <consumer> <python> [index of torch]
# Needs the network the first time only. Torch must be a CPU build: CUDA is never downloaded.
set -euo pipefail
folder=$1 consumer=$2 python=$3 index=${4:-}
here=tests/integrations/$consumer

offline() {
    echo "The environment of '$consumer' could not be installed; see pip's message above." >&2
    echo "It needs the network once; later runs of make test-integrations do not." >&2
    exit 1
}

[ -x "$folder/bin/python" ] || { echo "Creating $folder"; "$python" -m venv "$folder"; }
pip=("$folder/bin/python" -m pip --disable-pip-version-check)
# The consumer's own pins replace the shared ones of the same name.
names=$(sed 's/[=<>].*//' "$here/constraints.txt" | paste -sd'|')
grep -viE "^($names)[=<>]" constraints.txt | cat - "$here/constraints.txt" > "$folder/constraints.txt"

torch=$(grep -i '^torch=' "$here/constraints.txt" || true)
if [ -n "$torch" ] && ! "$folder/bin/python" -c "import torch" 2> /dev/null; then
    plan=$("${pip[@]}" install --dry-run ${index:+--index-url "$index"} "$torch") || offline
    if grep -Eqi ' (nvidia|cuda)-' <<< "$plan"; then
        echo "pip would install torch with CUDA (several GB). For a CPU build, name an index that has one:" >&2
        echo "  make test-integrations TORCH_INDEX=<address>" >&2
        exit 1
    fi
    "${pip[@]}" install --quiet ${index:+--index-url "$index"} "$torch" || offline
fi
echo "Installing the environment of '$consumer' (once)"
"${pip[@]}" install --quiet -c "$folder/constraints.txt" -r "$here/requirements.txt" || offline
if [ -f "$here/requirements-without-dependencies.txt" ]; then
    "${pip[@]}" install --quiet --no-deps -c "$folder/constraints.txt" \
        -r "$here/requirements-without-dependencies.txt" || offline
fi
if "${pip[@]}" list --format freeze | grep -Ei '^(nvidia|cuda)-'; then
    echo "CUDA packages were installed beside '$consumer'; expected a CPU build only" >&2
    exit 1
fi
