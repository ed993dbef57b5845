// SPDX-License-Identifier: Apache-2.0

// grpc_peer DIRECTORY: a server on grpc-go with a socket for each way to answer; see grpc_peers.py.
// Knows no messages: requests and replies are bytes. What it sees goes to the file "events".
//
//	grpc_peer DIRECTORY CALLS OUTSTANDING
//
// calls the socket "ok" of another one, for bench_grpc: each call on a connection of its own, as kubelet's are.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

var (
	name = []byte("\x0a\x04peer") // GetPluginInfoResponse: name
	lock sync.Mutex
)

// raw leaves messages as the bytes that they are.
type raw struct{}

func (raw) String() string                             { return "proto" }
func (raw) Marshal(v interface{}) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v interface{}) error { *v.(*[]byte) = data; return nil }

func varint(number int) []byte {
	out := make([]byte, binary.MaxVarintLen64)
	return out[:binary.PutUvarint(out, uint64(number))]
}

func tell(format string, values ...interface{}) {
	lock.Lock()
	defer lock.Unlock()
	file, err := os.OpenFile(filepath.Join(os.Args[1], "events"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintf(file, format+"\n", values...)
}

func field(tag byte, value []byte) []byte {
	return append(append([]byte{tag}, varint(len(value))...), value...)
}

func answer(way string, request []byte, stream grpc.ServerStream) ([]byte, error) {
	switch way {
	case "trailers":
		return nil, status.Error(codes.NotFound, "no such volume")
	case "after":
		_ = stream.SendHeader(metadata.MD{})
		return nil, status.Error(codes.FailedPrecondition, "after headers")
	case "text":
		return nil, status.Error(codes.Internal, "100% größer\nsecond \u20ac line")
	case "never":
		end, _ := stream.Context().Deadline()
		tell("deadline %.1f", time.Until(end).Seconds())
		<-stream.Context().Done()
		tell("cancelled")
		return nil, stream.Context().Err()
	case "large":
		return field(0x12, bytes.Repeat([]byte("v"), 3<<20)), nil
	case "huge":
		return field(0x12, bytes.Repeat([]byte("v"), 4<<20)), nil
	case "count":
		return field(0x0a, append([]byte{0x08}, varint(len(request))...)), nil
	case "die":
		os.Exit(1)
	}
	return name, nil
}

func serve(way string) {
	listener, err := net.Listen("unix", filepath.Join(os.Args[1], way+".sock"))
	if err != nil {
		log.Fatal(err)
	}
	handle := func(_ interface{}, stream grpc.ServerStream) error {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		reply, err := answer(way, request, stream)
		if err != nil {
			return err
		}
		return stream.SendMsg(&reply)
	}
	server := grpc.NewServer(grpc.CustomCodec(raw{}), grpc.UnknownServiceHandler(handle))
	go func() { log.Fatal(server.Serve(listener)) }()
}

func call(calls int) {
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", address)
	}
	for i := 0; i < calls; i++ {
		var reply []byte
		connection, err := grpc.Dial(filepath.Join(os.Args[1], "ok.sock"), grpc.WithInsecure(),
			grpc.WithAuthority("localhost"), grpc.WithContextDialer(dial), grpc.WithCodec(raw{}))
		if err == nil {
			err = connection.Invoke(context.Background(), "/csi.v1.Identity/GetPluginInfo", &[]byte{}, &reply)
		}
		if err != nil {
			log.Fatal(err)
		}
		connection.Close()
	}
}

// peak is not Maxrss, which remembers the parent.
func peak() (kib int) {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range bytes.Split(status, []byte("\n")) {
		_, _ = fmt.Sscanf(string(line), "VmHWM: %d", &kib)
	}
	return
}

func client() {
	calls, _ := strconv.Atoi(os.Args[2])
	outstanding, _ := strconv.Atoi(os.Args[3])
	var all sync.WaitGroup
	var usage syscall.Rusage
	began := time.Now()
	for i := 0; i < outstanding; i++ {
		all.Add(1)
		go func() { call(calls / outstanding); all.Done() }()
	}
	all.Wait()
	wall := time.Since(began)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	fmt.Printf("%.1f %.1f %d\n", float64(wall.Microseconds())/float64(calls),
		float64(used.Microseconds())/float64(calls), peak())
}

func main() {
	if len(os.Args) == 4 {
		client()
		return
	}
	for _, way := range []string{"ok", "trailers", "after", "text", "never", "large", "huge", "count", "die"} {
		serve(way)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test is over
}
