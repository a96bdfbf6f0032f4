package vault_test

const onWindows = true
