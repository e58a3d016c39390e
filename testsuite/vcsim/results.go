// SPDX-License-Identifier: GPL-2.0-or-later
// results.go: what SOAP answers to a method: the schema's METHODResponse.

package main

import "github.com/vmware/govmomi/vim25/types"

// grants is HasPrivilegeOnEntityResponse. govmomi's has omitempty, which leaves out
// what is false.
type grants struct {
	Returnval []bool `xml:"returnval" json:"returnval"`
}

var results = map[string]any{
	"Login":                        types.LoginResponse{},
	"Logout":                       types.LogoutResponse{},
	"SessionIsActive":              types.SessionIsActiveResponse{},
	"RetrieveServiceContent":       types.RetrieveServiceContentResponse{},
	"CurrentTime":                  types.CurrentTimeResponse{},
	"CreateContainerView":          types.CreateContainerViewResponse{},
	"CreateListView":               types.CreateListViewResponse{},
	"ModifyListView":               types.ModifyListViewResponse{},
	"DestroyView":                  types.DestroyViewResponse{},
	"CreatePropertyCollector":      types.CreatePropertyCollectorResponse{},
	"DestroyPropertyCollector":     types.DestroyPropertyCollectorResponse{},
	"CreateFilter":                 types.CreateFilterResponse{},
	"DestroyPropertyFilter":        types.DestroyPropertyFilterResponse{},
	"WaitForUpdatesEx":             types.WaitForUpdatesExResponse{},
	"CancelWaitForUpdates":         types.CancelWaitForUpdatesResponse{},
	"RetrieveProperties":           types.RetrievePropertiesResponse{},
	"RetrievePropertiesEx":         types.RetrievePropertiesExResponse{},
	"ContinueRetrievePropertiesEx": types.ContinueRetrievePropertiesExResponse{},
	"CancelRetrievePropertiesEx":   types.CancelRetrievePropertiesExResponse{},
	"FindByInventoryPath":          types.FindByInventoryPathResponse{},
	"FindByUuid":                   types.FindByUuidResponse{},
	"FindAllByUuid":                types.FindAllByUuidResponse{},
	"FindChild":                    types.FindChildResponse{},
	"CancelTask":                   types.CancelTaskResponse{},
	"CloneVM_Task":                 types.CloneVM_TaskResponse{},
	"InstantClone_Task":            types.InstantClone_TaskResponse{},
	"ReconfigVM_Task":              types.ReconfigVM_TaskResponse{},
	"PowerOnVM_Task":               types.PowerOnVM_TaskResponse{},
	"PowerOffVM_Task":              types.PowerOffVM_TaskResponse{},
	"ShutdownGuest":                types.ShutdownGuestResponse{},
	"SuspendVM_Task":               types.SuspendVM_TaskResponse{},
	"Destroy_Task":                 types.Destroy_TaskResponse{},
	"RelocateVM_Task":              types.RelocateVM_TaskResponse{},
	"UnregisterVM":                 types.UnregisterVMResponse{},
	"Rename_Task":                  types.Rename_TaskResponse{},
	"MarkAsTemplate":               types.MarkAsTemplateResponse{},
	"MarkAsVirtualMachine":         types.MarkAsVirtualMachineResponse{},
	"CreateSnapshot_Task":          types.CreateSnapshot_TaskResponse{},
	"CreateSecondaryVM_Task":       types.CreateSecondaryVM_TaskResponse{},
	"EnterMaintenanceMode_Task":    types.EnterMaintenanceMode_TaskResponse{},
	"ExitMaintenanceMode_Task":     types.ExitMaintenanceMode_TaskResponse{},
	"HasPrivilegeOnEntities":       types.HasPrivilegeOnEntitiesResponse{},
	"HasPrivilegeOnEntity":         grants{},
	"HasUserPrivilegeOnEntities":   types.HasUserPrivilegeOnEntitiesResponse{},
	"FetchUserPrivilegeOnEntities": types.FetchUserPrivilegeOnEntitiesResponse{},
	"PlaceVm":                      types.PlaceVmResponse{},
	"QueryConfigTarget":            types.QueryConfigTargetResponse{},
	"CheckClone_Task":              types.CheckClone_TaskResponse{},
	"CheckVmConfig_Task":           types.CheckVmConfig_TaskResponse{},
	"CheckInstantClone_Task":       types.CheckInstantClone_TaskResponse{},
	"CheckPowerOn_Task":            types.CheckPowerOn_TaskResponse{},
}
