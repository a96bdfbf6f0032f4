// Package web tests the viewer in a real browser, Debian's Chromium.
package web
