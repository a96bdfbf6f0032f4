// Package mainjob tests what the program is for, as quickly as that can be: it records and shows.
package mainjob
