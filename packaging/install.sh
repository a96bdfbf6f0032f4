#!/bin/sh
# Installs sequent for the current user, without root, in the folder to which sequent setup copies too:
#
#   curl -fsSL https://github.com/sequent-dev/sequent/releases/latest/download/install.sh | sh
#
# SEQUENT_BASE_URL      where the archives and SHA256SUMS are, for another version or a mirror
# SEQUENT_INSTALL_DIR   folder for the program
set -eu

base=${SEQUENT_BASE_URL:-https://github.com/sequent-dev/sequent/releases/latest/download}

fail() {
	echo "sequent was not installed: $1" >&2
	exit 1
}

# fetch URL FILE
fetch() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --retry 2 -o "$2" "$1" || fail "cannot download $1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$2" "$1" || fail "cannot download $1"
	else
		fail "curl or wget is needed"
	fi
}

# checksum FILE prints the SHA-256 of a file.
checksum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum <"$1"
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 <"$1"
	elif command -v openssl >/dev/null 2>&1; then
		openssl dgst -sha256 -r <"$1"
	else
		fail "sha256sum, shasum or openssl is needed to check the download"
	fi | cut -d ' ' -f 1
}

# The whole script is read before it runs, because a download can end early.
main() {
	case $(uname -s) in
	Linux) os=linux data=${XDG_DATA_HOME:-$HOME/.local/share} ;;
	Darwin) os=darwin data="$HOME/Library/Application Support" ;;
	*) fail "there is no archive for $(uname -s); on Windows run install.ps1 in PowerShell" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) cpu=amd64 ;;
	aarch64 | arm64) cpu=arm64 ;;
	*) fail "there is no archive for $(uname -m); go install github.com/sequent-dev/sequent/cmd/sequent@latest builds it" ;;
	esac
	dir=${SEQUENT_INSTALL_DIR:-$data/sequent/bin}

	mkdir -p "$dir"
	work=$(mktemp -d "$dir/.install.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM

	fetch "$base/SHA256SUMS" "$work/SHA256SUMS"
	line=$(grep -E "^[0-9a-f]{64}  sequent_[^ ]*_${os}_${cpu}\.tar\.gz\$" "$work/SHA256SUMS") || fail "$base/SHA256SUMS has no archive for $os $cpu"
	want=${line%% *}
	archive=${line##* }
	fetch "$base/$archive" "$work/archive"
	got=$(checksum "$work/archive")
	[ "$got" = "$want" ] || fail "$archive has the checksum $got, SHA256SUMS says $want; download it again, and report it if it happens twice"
	tar -xzf "$work/archive" -C "$work"
	version=$("$work/${archive%.tar.gz}/sequent" version) || fail "the program does not run on this system"
	mv -f "$work/${archive%.tar.gz}/sequent" "$dir/sequent"
	echo "installed $version"
	echo "      in $dir/sequent"

	# A link makes the program available where the PATH has the usual folder already.
	case ":$PATH:" in
	*":$dir:"*) command=sequent ;;
	*":$HOME/.local/bin:"*)
		command=sequent
		if [ -L "$HOME/.local/bin/sequent" ] || [ ! -e "$HOME/.local/bin/sequent" ]; then
			mkdir -p "$HOME/.local/bin"
			ln -sf "$dir/sequent" "$HOME/.local/bin/sequent"
		fi
		;;
	*)
		command="\"$dir/sequent\""
		echo
		echo "To run it as sequent, add this line to the file with which your shell starts:"
		echo
		echo "  export PATH=\"$dir:\$PATH\""
		;;
	esac
	echo
	echo "Add it to your MCP clients:"
	echo
	echo "  $command setup"
}

main
