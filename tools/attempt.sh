#!/bin/sh
# attempt.sh "what it does" command...: runs the command and shows its output; where it fails for want
# of room or of a network, the last line says so and says what to do.

what=$1
shift

# Show the lines as they come, and end with the cause that they name: 2 no room, 3 no network.
# (A loop of the shell: no temporary file, which a full disk would not take, and no waiting buffer.)
watch() {
    cause=0
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "$line"
        case $line in
            *"o space left on device"* | *"isk quota exceeded"*) cause=2 ;;
            *"onnection refused"* | *"onnection reset"* | *"onnection broken"* | *"imed out"* | \
            *"name resolution"* | *"Name or service not known"* | *"ould not resolve"* | \
            *"etwork is unreachable"* | *"No route to host"* | *"ProxyError"* | *"SSLError"* | \
            *"spurious network error"* | *"(from versions: none)"*) [ $cause = 2 ] || cause=3 ;;
        esac
    done
    return $cause
}

# The status of the command goes around the pipe, whose own is the cause.
exec 4>&1
status=$( { { "$@" 2>&1; echo $? >&3; } | watch >&4; echo $? >&3; } 3>&1 )
cause=${status#*
}
[ "${status%%
*}" = 0 ] && exit 0

case $cause in
    2) free=$(df -h . "${TMPDIR:-/tmp}" 2>/dev/null | awk 'NR > 1 { print $4 " left on " $6 }' | sort -u | paste -s -d , -)
       advice="the disk is full ($free): free 3 GB, or set TMPDIR where /tmp is the full one, and run make again." ;;
    3) advice="the network, or the server, cannot be reached: connect, or name mirrors (PIP_INDEX_URL for packages, ~/.cargo/config.toml for crates), and run make again." ;;
    *) advice="the messages above say why; the command was: $*" ;;
esac
printf '\n*** %s failed: %s\n' "$what" "$advice" >&2
exit 1
