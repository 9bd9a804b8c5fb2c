#!/bin/sh
# The servers of the cluster, in the namespaces that cluster.sh made: inside.sh litterbox-kubernetes PROGRAMS DIRECTORY. Ends when one of them does.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd -P)
programs=$2 run=$3
address=10.77.0.1
mount --make-rprivate /
mount --make-rshared /
ip link set lo up
ip link add node0 type bridge
ip addr add $address/32 dev node0
ip link set node0 up
echo 1 >/proc/sys/net/ipv4/ip_forward
cd "$run"

start() { # NAME COMMAND...
  name=$1
  shift
  { "$@" >"$run/$name.log" 2>&1 || :; echo "$name ended" >>"$run/log"; kill -TERM $$; } &
}
trap 'exit 1' TERM

cat >containerd.toml <<CONFIG
version = 2
root = "$run/containerd"
state = "$run/containerd-state"
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = "$run/containerd.sock"
[ttrpc]
  address = "$run/containerd.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "$run/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$run/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
CONFIG
mkdir -p cni
# Not a bridge: each pod is routed, so that rules of the node see what pods say to each other.
cat >cni/10-pods.conflist <<'CONFIG'
{"cniVersion":"0.4.0","name":"pods","plugins":[{"type":"ptp","ipMasq":false,"ipam":{"type":"host-local","dataDir":"/run/litterbox-kubernetes-cni","ranges":[[{"subnet":"10.78.0.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
CONFIG
mount -t tmpfs -o mode=755 cni /run/cni 2>/dev/null || { mkdir -p /run/cni && mount -t tmpfs -o mode=755 cni /run/cni; }
cat >kubelet.yaml <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $run/ca.crt}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /litterbox-kubernetes
enforceNodeAllocatable: []
evictionHard: {nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%, memory.available: 0%}
failSwapOn: false
oomScoreAdj: 0
podPidsLimit: 4096
# Both are what newer clusters have from the beginning.
allowedUnsafeSysctls: [net.ipv4.ip_unprivileged_port_start]
featureGates: {SizeMemoryBackedVolumes: true}
maxPods: 250
makeIPTablesUtilChains: false
readOnlyPort: 0
resolvConf: ''
fileCheckFrequency: 20s
imageGCHighThresholdPercent: 100
CONFIG

start etcd "$programs/etcd/usr/bin/etcd" --data-dir "$run/etcd" --unsafe-no-fsync \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
start containerd containerd --config containerd.toml
start apiserver "$programs/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --secure-port=6443 --bind-address=$address \
  --advertise-address=$address --tls-cert-file=api.crt --tls-private-key-file=api.key --token-auth-file=tokens.csv \
  --authorization-mode=RBAC --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=service-account.key \
  --service-account-signing-key-file=service-account.key --service-cluster-ip-range=10.79.0.0/24 \
  --kubelet-client-certificate=kubelet-client.crt --kubelet-client-key=kubelet-client.key --kubelet-preferred-address-types=InternalIP
until "$run/curl" /readyz >/dev/null 2>&1; do sleep 0.3; done
start controller-manager "$programs/kube-controller-manager" --kubeconfig=admin.kubeconfig --leader-elect=false \
  --service-account-private-key-file=service-account.key --root-ca-file=ca.crt --use-service-account-credentials=false
start scheduler "$programs/kube-scheduler" --kubeconfig=admin.kubeconfig --leader-elect=false
"$run/curl" /api/v1/namespaces -X POST -H 'Content-Type: application/json' -d '{"metadata":{"name":"litterbox"}}' >/dev/null
until [ -S containerd.sock ] && ctr -a "$run/containerd.sock" -n k8s.io version >/dev/null 2>&1; do sleep 0.2; done
sh "$here/images.sh" "$run/image" | ctr -a "$run/containerd.sock" -n k8s.io images import --no-unpack=false - >"$run/images.log" 2>&1 ||
  sh "$here/images.sh" "$run/image" | ctr -a "$run/containerd.sock" -n k8s.io images import - >"$run/images.log" 2>&1
start kubelet "$programs/kubelet" --config=kubelet.yaml --kubeconfig=admin.kubeconfig --hostname-override=node1 --node-ip=$address \
  --root-dir="$run/kubelet" --cert-dir="$run/kubelet-keys" --container-runtime=remote --container-runtime-endpoint="unix://$run/containerd.sock"
start agent-sandbox "$here/../../node_modules/.bin/node" "$here/agent-sandbox.mjs" "$run"
start volumes "$here/../../node_modules/.bin/node" "$here/volumes.mjs" "$run"
[ "${LITTERBOX_KUBERNETES_POLICIES:-on}" = off ] || start policies "$here/../../node_modules/.bin/node" "$here/policies.mjs" "$programs/etcd/usr/sbin/nft" "$run"
wait
