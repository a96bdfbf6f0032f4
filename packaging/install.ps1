# Installs sequent for the current user, without administrator rights, in the folder to which sequent setup copies too:
#
#   irm https://github.com/sequent-dev/sequent/releases/latest/download/install.ps1 | iex
#
# SEQUENT_BASE_URL      where the archives and SHA256SUMS are, for another version or a mirror
# SEQUENT_INSTALL_DIR   folder for the program

function Install-Sequent {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue' # the bar makes downloads slow in Windows PowerShell

    $base = $env:SEQUENT_BASE_URL
    if (-not $base) { $base = 'https://github.com/sequent-dev/sequent/releases/latest/download' }
    $dir = $env:SEQUENT_INSTALL_DIR
    if (-not $dir) { $dir = Join-Path $env:LOCALAPPDATA 'sequent\bin' }
    # A process for another processor sees the real one in PROCESSOR_ARCHITEW6432.
    $machine = $env:PROCESSOR_ARCHITEW6432
    if (-not $machine) { $machine = $env:PROCESSOR_ARCHITECTURE }
    switch ($machine) {
        'AMD64' { $cpu = 'amd64' }
        'ARM64' { $cpu = 'arm64' }
        default { throw "sequent was not installed: there is no archive for $machine" }
    }

    New-Item -ItemType Directory -Force -Path $dir | Out-Null
    $work = Join-Path $dir ('.install.' + [IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory -Path $work | Out-Null
    try {
        $sums = Join-Path $work 'SHA256SUMS'
        Invoke-WebRequest -UseBasicParsing -Uri "$base/SHA256SUMS" -OutFile $sums
        $line = Get-Content $sums | Where-Object { $_ -match "^[0-9a-f]{64}  sequent_\S*_windows_$cpu\.zip$" } | Select-Object -First 1
        if (-not $line) { throw "sequent was not installed: $base/SHA256SUMS has no archive for windows $cpu" }
        $want, $archive = $line -split '  ', 2
        $file = Join-Path $work $archive
        Invoke-WebRequest -UseBasicParsing -Uri "$base/$archive" -OutFile $file
        $got = (Get-FileHash -Algorithm SHA256 -Path $file).Hash.ToLowerInvariant()
        if ($got -ne $want) { throw "sequent was not installed: $archive has the checksum $got, SHA256SUMS says $want; download it again, and report it if it happens twice" }
        Expand-Archive -Path $file -DestinationPath $work
        $new = Join-Path (Join-Path $work ($archive -replace '\.zip$', '')) 'sequent.exe'
        $version = & $new version
        if ($LASTEXITCODE -ne 0) { throw 'sequent was not installed: the program does not run on this system' }
        $program = Join-Path $dir 'sequent.exe'
        # Windows does not replace a program that runs, but renames it.
        Get-ChildItem -Force -Path $dir -Filter '.sequent.exe.*.old' | Remove-Item -Force -ErrorAction SilentlyContinue
        if (Test-Path $program) { Move-Item -Force $program (Join-Path $dir ('.sequent.exe.' + [IO.Path]::GetRandomFileName() + '.old')) }
        Move-Item $new $program
    } finally {
        Remove-Item -Recurse -Force $work -ErrorAction SilentlyContinue
    }
    Write-Output "installed $version"
    Write-Output "      in $program"

    $name = 'sequent'
    if (($env:PATH -split ';') -notcontains $dir) {
        $name = "& `"$program`""
        Write-Output ''
        Write-Output 'To run it as sequent, add the folder to your PATH:'
        Write-Output ''
        Write-Output "  [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$dir', 'User')"
    }
    Write-Output ''
    Write-Output 'Add it to your MCP clients:'
    Write-Output ''
    Write-Output "  $name setup"
}

Install-Sequent
