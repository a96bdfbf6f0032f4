// Package replicas tests several processes of the program with one PostgreSQL
// database, behind a load balancer that sends each call to any of them.
package replicas
