// SPDX-License-Identifier: Apache-2.0

// A small CSI driver on grpc-go, the library that nearly every real driver is made of: what podvold sends has to
// suit that server, too. Stage and publish are real bind mounts of a directory a volume. It knows no faults;
// tests/csi/driver.py does. Messages are made at run time from a descriptor set that protoc wrote, so nothing is
// generated.
//
//	driver --descriptors FILE --endpoint SOCKET --registration SOCKET --data DIRECTORY --name NAME
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

var (
	descriptors  = flag.String("descriptors", "", "what protoc --descriptor_set_out wrote")
	endpoint     = flag.String("endpoint", "", "where the driver listens")
	registration = flag.String("registration", "", "where its registrar listens")
	data         = flag.String("data", "", "directory of the volumes")
	name         = flag.String("name", "go.csi.test.podvol", "name of the driver")
)

// codec marshals messages of the current protobuf library, which the packaged grpc is older than.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v interface{}) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }

func (codec) Unmarshal(b []byte, v interface{}) error { return proto.Unmarshal(b, v.(proto.Message)) }

type message struct{ *dynamicpb.Message }

func (m message) field(name string) protoreflect.FieldDescriptor {
	return m.Descriptor().Fields().ByName(protoreflect.Name(name))
}

func (m message) text(name string) string { return m.Get(m.field(name)).String() }

func (m message) set(name string, value interface{}) {
	m.Set(m.field(name), protoreflect.ValueOf(value))
}

// handler fills a reply, or returns a status.
type handler func(request, reply message) error

var one sync.Mutex // a call at a time

// isMounted asks the kernel: a mount point is where the table says so, a bind of the same file system, too.
func isMounted(path string) bool {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		log.Fatal(err)
	}
	return strings.Contains(string(table), " "+path+" ")
}

func bind(from, to string, readOnly bool) error {
	if isMounted(to) {
		return nil
	}
	if err := syscall.Mount(from, to, "none", syscall.MS_BIND, ""); err != nil {
		return status.Errorf(codes.Internal, "bind %s on %s: %v", from, to, err)
	}
	if readOnly {
		return syscall.Mount("none", to, "none", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	}
	return nil
}

func unbind(path string) error {
	for isMounted(path) {
		if err := syscall.Unmount(path, 8 /* UMOUNT_NOFOLLOW */); err != nil {
			return status.Errorf(codes.Internal, "unmount %s: %v", path, err)
		}
	}
	return nil
}

func stage(request, _ message) error {
	volume := filepath.Join(*data, filepath.Base(request.text("volume_id")))
	if err := os.MkdirAll(volume, 0o755); err != nil {
		return status.Errorf(codes.Internal, "%v", err)
	}
	return bind(volume, request.text("staging_target_path"), false)
}

func publish(request, _ message) error {
	staging, target := request.text("staging_target_path"), request.text("target_path")
	if !isMounted(staging) {
		return status.Errorf(codes.FailedPrecondition, "nothing is staged at %s", staging)
	}
	if err := os.Mkdir(target, 0o750); err != nil && !os.IsExist(err) {
		return status.Errorf(codes.Internal, "%v", err)
	}
	return bind(staging, target, request.Get(request.field("readonly")).Bool())
}

func unpublish(request, _ message) error {
	target := request.text("target_path")
	if err := unbind(target); err != nil {
		return err
	}
	if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
		return status.Errorf(codes.Internal, "%v", err)
	}
	return nil
}

func (m message) within(name string) message {
	return message{m.Mutable(m.field(name)).Message().Interface().(*dynamicpb.Message)}
}

// capability answers with one of a kind: "rpc" or "service".
func capability(kind string, number protoreflect.EnumNumber) handler {
	return func(_, reply message) error {
		list := reply.Mutable(reply.field("capabilities")).List()
		one := message{list.AppendMutable().Message().Interface().(*dynamicpb.Message)}
		one.within(kind).set("type", number)
		return nil
	}
}

// createVolume makes the directory that stage would make: a handle is the name that was asked for.
func createVolume(request, reply message) error {
	name := filepath.Base(request.text("name"))
	if err := os.MkdirAll(filepath.Join(*data, name), 0o755); err != nil {
		return status.Errorf(codes.Internal, "%v", err)
	}
	volume := reply.within("volume")
	volume.set("volume_id", name)
	size := request.within("capacity_range")
	volume.set("capacity_bytes", size.Get(size.field("required_bytes")).Int())
	return nil
}

func deleteVolume(request, _ message) error {
	if err := os.RemoveAll(filepath.Join(*data, filepath.Base(request.text("volume_id")))); err != nil {
		return status.Errorf(codes.Internal, "%v", err)
	}
	return nil
}

func pluginInfo(_, reply message) error {
	reply.set("type", "CSIPlugin")
	reply.set("name", *name)
	reply.set("endpoint", *endpoint)
	reply.Mutable(reply.field("supported_versions")).List().Append(protoreflect.ValueOfString("1.0.0"))
	return nil
}

func notified(request, _ message) error {
	if !request.Get(request.field("plugin_registered")).Bool() {
		log.Fatalf("registration failed: %s", request.text("error"))
	}
	return nil
}

var handlers = map[string]handler{
	"csi.v1.Identity/GetPluginInfo": func(_, reply message) error {
		reply.set("name", *name)
		reply.set("vendor_version", "1.0.0")
		return nil
	},
	"csi.v1.Identity/GetPluginCapabilities":                    capability("service", 1), // CONTROLLER_SERVICE
	"csi.v1.Identity/Probe":                                    func(_, _ message) error { return nil },
	"csi.v1.Node/NodeGetInfo":                                  func(_, reply message) error { reply.set("node_id", "go-node"); return nil },
	"csi.v1.Controller/ControllerGetCapabilities":              capability("rpc", 1), // CREATE_DELETE_VOLUME
	"csi.v1.Controller/CreateVolume":                           createVolume,
	"csi.v1.Controller/DeleteVolume":                           deleteVolume,
	"csi.v1.Node/NodeGetCapabilities":                          capability("rpc", 1), // STAGE_UNSTAGE_VOLUME
	"csi.v1.Node/NodeStageVolume":                              stage,
	"csi.v1.Node/NodeUnstageVolume":                            func(r, _ message) error { return unbind(r.text("staging_target_path")) },
	"csi.v1.Node/NodePublishVolume":                            publish,
	"csi.v1.Node/NodeUnpublishVolume":                          unpublish,
	"pluginregistration.Registration/GetInfo":                  pluginInfo,
	"pluginregistration.Registration/NotifyRegistrationStatus": notified,
}

// method makes grpc's row for one method of a service.
func method(service protoreflect.ServiceDescriptor, m protoreflect.MethodDescriptor) grpc.MethodDesc {
	act := handlers[string(service.FullName())+"/"+string(m.Name())]
	return grpc.MethodDesc{MethodName: string(m.Name()), Handler: func(_ interface{}, _ context.Context,
		decode func(interface{}) error, _ grpc.UnaryServerInterceptor) (interface{}, error) {
		request, reply := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
		if err := decode(request); err != nil {
			return nil, err
		}
		if act == nil {
			return nil, status.Errorf(codes.Unimplemented, "no %s", m.Name())
		}
		one.Lock()
		defer one.Unlock()
		return reply, act(message{request}, message{reply})
	}}
}

// serve listens on a socket with some services of the descriptors; it ends with the process.
func serve(files *protoregistry.Files, socket string, services ...string) {
	server := grpc.NewServer()
	for _, service := range services {
		found, err := files.FindDescriptorByName(protoreflect.FullName(service))
		if err != nil {
			log.Fatal(err)
		}
		descriptor := found.(protoreflect.ServiceDescriptor)
		row := grpc.ServiceDesc{ServiceName: service, HandlerType: (*interface{})(nil)}
		for i := 0; i < descriptor.Methods().Len(); i++ {
			row.Methods = append(row.Methods, method(descriptor, descriptor.Methods().Get(i)))
		}
		server.RegisterService(&row, struct{}{})
	}
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.Serve(listener))
}

func main() {
	flag.Parse()
	encoding.RegisterCodec(codec{})
	bytes, err := os.ReadFile(*descriptors)
	if err != nil {
		log.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err = proto.Unmarshal(bytes, &set); err != nil {
		log.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		log.Fatal(err)
	}
	go serve(files, *endpoint, "csi.v1.Identity", "csi.v1.Controller", "csi.v1.Node")
	serve(files, *registration, "pluginregistration.Registration")
}
