// The web server in the images that stand for nginx's: it serves the files of those images' directory on port 80 until it is told to stop.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "-v" {
		fmt.Fprintln(os.Stderr, "nginx version: nginx/1.27.0 (stand-in)")
		return
	}
	// As the first process of a container it would be sent no signal that it has not asked for.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	go func() { <-stop; os.Exit(0) }()
	fmt.Fprintln(os.Stderr, http.ListenAndServe(":80", http.FileServer(http.Dir("/usr/share/nginx/html"))))
	os.Exit(1)
}
