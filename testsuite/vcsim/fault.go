// SPDX-License-Identifier: GPL-2.0-or-later
// fault.go: method faults and how they look on the wire, in a reply and inside
// data (a task's error, a missingSet, a fault's cause). vCenter 8.0.3 sends the
// latter flat, {"_typeName":"InvalidArgument","faultstring":...}; govmomi's types
// are SOAP's, which wraps them into a LocalizedMethodFault.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vmware/govmomi/vim25/types"
)

// wireFault is a method fault as an error.
type wireFault struct {
	fault types.BaseMethodFault
	text  string
}

func (f *wireFault) Error() string { return fmt.Sprintf("%T: %s", f.fault, f.text) }

// errGone: the client went away, so there is no answer.
var errGone = errors.New("client is gone")

// rawJSON is an answer that is encoded already.
type rawJSON []byte

func quote(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

func encodeRef(r ref) []byte {
	return []byte(fmt.Sprintf(`{"_typeName":"ManagedObjectReference","type":%s,"value":%s}`, quote(r.Type), quote(r.Value)))
}

func fault(f types.BaseMethodFault, format string, a ...any) error {
	return &wireFault{fault: f, text: fmt.Sprintf(format, a...)}
}

func notFound(r ref) error {
	return fault(&types.ManagedObjectNotFound{Obj: r}, "The object '%s:%s' has already been deleted or has not been completely created", r.Type, r.Value)
}

func invalidArgument(prop string) error {
	return fault(&types.InvalidArgument{InvalidProperty: prop}, "A specified parameter was not correct: %s", prop)
}

func canceled() error {
	return fault(&types.RequestCanceled{}, "The request was canceled by a user.")
}

func notAuthenticated(r ref) error {
	return fault(&types.NotAuthenticated{NoPermission: types.NoPermission{Object: &r, PrivilegeId: "System.View"}},
		"The session is not authenticated.")
}

func deviceSpec(i int, prop string) error {
	f := &types.InvalidDeviceSpec{DeviceIndex: int32(i)}
	f.Property = prop
	return fault(f, "Invalid configuration for device '%d'.", i)
}

func localized(f types.BaseMethodFault, text string) types.LocalizedMethodFault {
	return types.LocalizedMethodFault{Fault: f, LocalizedMessage: text}
}

// genericFault is the wrapper of vmx messages: the first is the cause.
func genericFault(msgs ...[2]string) error {
	f := &types.GenericVmConfigFault{Reason: msgs[0][1]}
	for _, m := range msgs {
		f.FaultMessage = append(f.FaultMessage, types.LocalizableMessage{Key: m[0], Message: m[1]})
	}
	return &wireFault{fault: f, text: msgs[0][1]}
}

func noVF(card int, pf string) error {
	return genericFault(
		[2]string{"msg.pciPassthru.noVF", fmt.Sprintf("pciPassthru%d: No SR-IOV virtual function (VF) is available for given physical function (PF) (%s)", card, pf)},
		[2]string{"msg.moduletable.powerOnFailed", "Module 'DevicePowerOn' power on failed."})
}

func powerState(want, is types.VirtualMachinePowerState) error {
	word := map[types.VirtualMachinePowerState]string{"poweredOn": "Powered on", "poweredOff": "Powered off", "suspended": "Suspended"}[is]
	return fault(&types.InvalidPowerState{RequestedState: want, ExistingState: is},
		"The attempted operation cannot be performed in the current state (%s).", word)
}

// asFault makes any error a method fault.
func asFault(err error) *wireFault {
	var f *wireFault
	if errors.As(err, &f) {
		return f
	}
	return &wireFault{fault: &types.SystemError{Reason: err.Error()}, text: "A general system error occurred: " + err.Error()}
}

// faultForm is how faults inside data look, as the inventory's "faults" says:
// flat, or nested as in SOAP.
type faultForm string

const (
	flatFaults   faultForm = "flat"
	nestedFaults faultForm = "nested"
)

// write gives an encoded answer with its faults in this form.
func (form faultForm) write(b []byte) []byte {
	if form == nestedFaults || !bytes.Contains(b, []byte(`"LocalizedMethodFault"`)) {
		return b
	}
	doc, err := parseJSON(b)
	if err != nil {
		panic("an answer of the simulator is not JSON: " + err.Error())
	}
	out, err := json.Marshal(flattened(doc))
	if err != nil {
		panic(err)
	}
	return out
}

// flattened puts the fault itself, with its text, in the place of each wrapper.
func flattened(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = flattened(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = flattened(x[k])
		}
		inner, ok := x["fault"].(map[string]any)
		if !ok || x["_typeName"] != "LocalizedMethodFault" {
			break
		}
		if text, ok := x["localizedMessage"]; ok {
			inner["faultstring"] = text
		}
		return inner
	}
	return v
}

// encodeFault is the body of a 500 reply.
func encodeFault(err error) []byte {
	f := asFault(err)
	b := encodeAny(f.fault)
	return append(append(bytes.TrimSuffix(b, []byte("}")), append([]byte(`,"faultstring":`), quote(f.text)...)...), '}')
}
