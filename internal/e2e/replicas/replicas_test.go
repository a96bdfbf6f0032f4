// Package replicas tests many processes of the program with one PostgreSQL
// database, as behind a load balancer that sends each call to any of them.
package replicas
