#!/bin/sh
# The four servers of Kubernetes from Debian's source package, built once: build.sh up|down|status|path.
# Nothing is installed: Go is unpacked beside the source. `path` says where the programs are.
set -eu
tools=$(cd "$(dirname "$0")/.." && pwd -P)
base=/var/lib/litterbox-test/kubernetes
source_version=1.20.5+really1.20.2-1.1+deb12u1
server_version=v1.20.2
tags='providerless dockerless'
servers='kube-apiserver kubelet kube-controller-manager kube-scheduler'
toolchain='golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev golang-github-json-iterator-go-dev'
# What runs beside the servers. containerd and runc come with docker.io.
beside='etcd-server nftables libnftables1 libjansson4'

key() { printf '%s %s go1.19 %s\n' "$source_version" "$server_version" "$tags" | sha256sum | cut -c 1-16; }
kept=$base/$(key)
built() { for server in $servers etcd/usr/bin/etcd etcd/usr/sbin/nft; do [ -x "$kept/$server" ] || return 1; done; }

unpack() { # DIRECTORY PACKAGE...
  into=$1
  shift
  mkdir -p "$into" "$kept/debs"
  (cd "$kept/debs" && apt-get -qq download "$@")
  for package in "$@"; do dpkg -x "$kept/debs/$package"_*.deb "$into"; done
}

fetch() {
  echo 'kubernetes: fetching' >&2
  lists=$kept/apt
  mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Codename: bookworm' 'Component: main' | head -n 1)
  printf 'deb-src %s bookworm main\n' "$mirror" >"$lists/sources.list"
  own="-o Dir::Etc::sourcelist=$lists/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::Lists=$lists/lists -o Dir::Cache=$lists/cache -o APT::Sandbox::User=root"
  sh "$tools/install-packages.sh"
  # shellcheck disable=SC2086
  apt-get -qq $own update
  # shellcheck disable=SC2086
  (cd "$kept" && apt-get -qq $own source --download-only "kubernetes=$source_version")
  # shellcheck disable=SC2086
  unpack "$kept/go" $toolchain
  # shellcheck disable=SC2086
  unpack "$kept/etcd" $beside
}

lay_source() {
  tree=$kept/path/src/k8s.io/kubernetes
  rm -rf "$kept/path" "$kept/debian"
  mkdir -p "$tree"
  tar -xf "$kept"/kubernetes_*.orig.tar.* --strip-components 1 -C "$tree"
  tar -xf "$kept"/kubernetes_*.debian.tar.* -C "$kept"
  grep -v '^#' "$kept/debian/patches/series" | while read -r patch; do
    [ -z "$patch" ] || patch -s -d "$tree" -p1 <"$kept/debian/patches/$patch"
  done
  # The vendored copies do not run on Go of today.
  for package in modern-go/reflect2 json-iterator/go; do
    rm -rf "$tree/vendor/github.com/$package"
    cp -r "$kept/go/usr/share/gocode/src/github.com/$package" "$tree/vendor/github.com/$package"
  done
}

go_env() {
  GOROOT=$kept/go/usr/lib/go-1.19
  GOPATH=$kept/path
  GOCACHE=$kept/cache
  GO111MODULE=off CGO_ENABLED=0 GOFLAGS='-trimpath -p=1'
  PATH=$GOROOT/bin:$PATH
  export GOROOT GOPATH GOCACHE GO111MODULE CGO_ENABLED GOFLAGS PATH
  export GOMAXPROCS="${LITTERBOX_KUBERNETES_PROCESSORS:-1}"
}

# The source package leaves this file out; the API server serves it.
write_openapi() {
  cd "$kept/path/src/k8s.io/kubernetes"
  go build -o "$kept/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  inputs=$(grep -rl --include='*.go' '+k8s:openapi-gen=true' staging/src/k8s.io pkg |
    grep -v -e '_test\.go$' -e /testdata/ -e code-generator -e sample-apiserver -e zz_generated |
    xargs -n 1 dirname | sort -u | sed -e 's,^staging/src/,k8s.io/kubernetes/vendor/,' -e 's,^pkg/,k8s.io/kubernetes/pkg/,' | paste -sd , -)
  : >"$kept/header.txt"
  "$kept/openapi-gen" --go-header-file "$kept/header.txt" --input-dirs "$inputs" \
    --output-base "$kept/path/src" --output-package k8s.io/kubernetes/pkg/generated/openapi --output-file-base zz_generated.openapi \
    --report-filename "$kept/api-violations.txt" >"$kept/openapi.log" 2>&1
}

build() {
  go_env
  [ -s "$kept/path/src/k8s.io/kubernetes/pkg/generated/openapi/zz_generated.openapi.go" ] || {
    lay_source
    echo 'kubernetes: writing the schema' >&2
    write_openapi
  }
  cd "$kept/path/src/k8s.io/kubernetes"
  for server in $servers; do
    [ ! -x "$kept/$server" ] || continue
    echo "kubernetes: building $server" >&2
    go build -tags "$tags" -ldflags "-s -w -X k8s.io/kubernetes/vendor/k8s.io/component-base/version.gitVersion=$server_version" \
      -o "$kept/$server.new" "./cmd/$server"
    mv "$kept/$server.new" "$kept/$server"
  done
  rm -rf "$kept/path" "$kept/cache" "$kept/go" "$kept/apt" "$kept/debs" "$kept"/kubernetes_* "$kept/openapi-gen"
}

case ${1:-status} in
  up)
    built || {
      mkdir -p "$kept"
      # One builds; what it starts does not hold the lock.
      exec 9>"$base/lock"
      flock 9
      built || {
        [ -x "$kept/etcd/usr/bin/etcd" ] && [ -d "$kept/go" ] || fetch 9>&-
        build 9>&-
      }
    }
    ;;
  down) rm -rf "$base" ;;
  status) if built; then echo 'kubernetes: built'; else echo 'kubernetes: not built' && exit 1; fi ;;
  path) printf '%s\n' "$kept" ;;
  *)
    echo "usage: $0 up|down|status|path" >&2
    exit 2
    ;;
esac
