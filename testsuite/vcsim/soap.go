// SPDX-License-Identifier: GPL-2.0-or-later
// soap.go: SOAP, the other encoding of the calls that VI JSON carries. Sessions,
// methods, rights, latencies, declared faults, slots and counters are the same.
// Faults inside data are nested, as SOAP's schema has them. The release comes
// from the header SOAPAction. Unknown elements are ignored.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"reflect"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"
)

const (
	soapCookie = "vmware_soap_session"
	vimSpace   = "urn:vim25"
)

type soapXML struct{ inv *inventory }

// fetch reads a property, as GET does in VI JSON. pyvmomi sends it; VMware
// documents it nowhere.
type fetch struct {
	This types.ManagedObjectReference `xml:"_this"`
	Prop string                       `xml:"prop"`
}

type fetchResponse struct {
	Returnval types.AnyType `xml:"returnval,omitempty,typeattr"`
}

func (w *world) serveSOAP(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(rw, "", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	c := &call{wire: soapXML{w.inv}, w: w, ctx: r.Context(), release: w.soapRelease(r.Header.Get("SOAPAction")), remote: r.RemoteAddr, agent: r.UserAgent()}
	w.delayCall(r.Context())
	if err := c.readEnvelope(body); err != nil {
		out, status := c.wire.reply(c, nil, fault(&types.InvalidRequest{}, "%v", err))
		c.write(rw, out, status)
		return
	}
	token, verb := "", http.MethodPost
	if k, err := r.Cookie(soapCookie); err == nil {
		token = k.Value
	}
	if f, ok := c.req.(*fetch); ok {
		c.method, verb = f.Prop, http.MethodGet
	}
	c.carryOut(rw, r, w.ruleFor("request", c), func() (any, error) { return c.serve(verb, token, nil) })
}

// soapRelease is the release of urn:vim25/RELEASE. A release that the server does not
// know counts as its own, because govc logs in with its library's newest one.
func (w *world) soapRelease(action string) string {
	_, release, _ := strings.Cut(strings.Trim(action, `"`), "/")
	if w.supported(release) {
		return release
	}
	return w.inv.About.ApiVersion
}

// readEnvelope decodes the first element of the body: the method.
func (c *call) readEnvelope(body []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.TypeFunc = types.TypeFunc()
	inside := false
	for {
		tok, err := dec.Token()
		if err != nil {
			return fmt.Errorf("no method in the envelope: %w", err)
		}
		start, ok := tok.(xml.StartElement)
		switch {
		case !ok:
		case inside:
			return c.readMethod(dec, start)
		case start.Name.Local == "Header":
			if err := dec.Skip(); err != nil {
				return err
			}
		default:
			inside = start.Name.Local == "Body"
		}
	}
}

func (c *call) readMethod(dec *xml.Decoder, start xml.StartElement) error {
	c.method = start.Name.Local
	t, ok := types.TypeFunc()(c.method)
	if c.method == "Fetch" {
		t, ok = reflect.TypeOf(fetch{}), true
	}
	if !ok {
		return fmt.Errorf("no request type for %s", c.method)
	}
	p := reflect.New(t)
	if err := dec.DecodeElement(p.Interface(), &start); err != nil {
		return fmt.Errorf("%s: %w", c.method, err)
	}
	this := p.Elem()
	if this.Kind() == reflect.Struct {
		this = this.FieldByName("This")
	}
	if !this.IsValid() || this.Type() != reflect.TypeOf(c.this) {
		return fmt.Errorf("%s is no method", c.method)
	}
	c.this, c.req = this.Interface().(ref), p.Interface()
	return nil
}

func (soapXML) contentType() string { return "text/xml; charset=utf-8" }

func (soapXML) setSession(rw http.ResponseWriter, token string) {
	http.SetCookie(rw, &http.Cookie{Name: soapCookie, Value: token, Path: "/", Secure: true, HttpOnly: true})
}

// decode has the request already: it refuses members of later releases alone.
func (x soapXML) decode(c *call, _ []byte) error {
	text := x.arguments(c, nil)
	if text == nil {
		return nil
	}
	doc, err := parseJSON(text)
	if err == nil {
		err = checkRelease(doc, c.release, "")
	}
	if err != nil {
		return fault(&types.InvalidRequest{}, "%s: %v", c.method, err)
	}
	return nil
}

// arguments writes the request as a body of VI JSON.
func (soapXML) arguments(c *call, _ []byte) []byte {
	doc := map[string]json.RawMessage{}
	text := encodeAny(reflect.ValueOf(c.req).Elem().Interface())
	if err := json.Unmarshal(text, &doc); err != nil {
		panic(fmt.Sprintf("a request is not JSON: %v in %s", err, text))
	}
	delete(doc, "_this")
	delete(doc, "_typeName")
	if len(doc) == 0 {
		return nil
	}
	out, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return out
}

type envelope struct {
	XMLName xml.Name `xml:"soapenv:Envelope"`
	Enc     string   `xml:"xmlns:soapenc,attr"`
	Env     string   `xml:"xmlns:soapenv,attr"`
	XSD     string   `xml:"xmlns:xsd,attr"`
	XSI     string   `xml:"xmlns:xsi,attr"`
	Body    any      `xml:"soapenv:Body"`
}

// element is a value under a name of vim25, with its type where that is not implied.
type element struct {
	name, kind string
	val        any
}

func (e element) MarshalXML(enc *xml.Encoder, _ xml.StartElement) error {
	start := xml.StartElement{Name: xml.Name{Local: e.name}, Attr: []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: vimSpace}}}
	if e.kind != "" {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: "xsi:type"}, Value: e.kind})
	}
	return enc.EncodeElement(e.val, start)
}

type soapFault struct {
	XMLName xml.Name                `xml:"soapenv:Fault"`
	Code    string                  `xml:"faultcode"`
	Text    string                  `xml:"faultstring"`
	Detail  struct{ Fault element } `xml:"detail"`
}

func (x soapXML) reply(c *call, res any, err error) ([]byte, int) {
	if err == nil {
		var out []byte
		if out, err = c.soapResult(res); err == nil {
			return out, http.StatusOK
		}
		log.Printf("soap: %s: %v", c.method, err)
	}
	f := asFault(err)
	kind := reflect.TypeOf(f.fault).Elem().Name()
	body := soapFault{Code: "ServerFaultCode", Text: f.text}
	body.Detail.Fault = element{kind + "Fault", kind, f.fault}
	out, err := writeEnvelope(struct{ Fault soapFault }{body})
	if err != nil {
		panic(fmt.Sprintf("encode %s: %v", kind, err))
	}
	return out, http.StatusInternalServerError
}

func writeEnvelope(body any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	err := xml.NewEncoder(&b).Encode(&envelope{Enc: "http://schemas.xmlsoap.org/soap/encoding/", Env: "http://schemas.xmlsoap.org/soap/envelope/",
		XSD: "http://www.w3.org/2001/XMLSchema", XSI: "http://www.w3.org/2001/XMLSchema-instance", Body: body})
	return b.Bytes(), err
}

// soapResult writes a result as METHODResponse. An answer of the property collector
// is JSON already, and is read back into its type.
func (c *call) soapResult(res any) ([]byte, error) {
	name, kind := c.method+"Response", reflect.TypeOf(results[c.method])
	if _, ok := c.req.(*fetch); ok {
		name, kind = "FetchResponse", reflect.TypeOf(fetchResponse{})
		if res != nil {
			res = boxArray(res)
		}
	}
	p := reflect.New(kind)
	raw, isRaw := res.(rawJSON)
	if isRaw {
		text := append(append([]byte(`{"returnval":`), raw...), '}')
		if err := types.NewJSONDecoder(bytes.NewReader(text)).Decode(p.Interface()); err != nil {
			return nil, err
		}
	} else if res != nil {
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		if err := assign(p.Elem().FieldByName("Returnval"), reflect.ValueOf(res)); err != nil {
			return nil, err
		}
	}
	return writeEnvelope(struct{ Res element }{element{name: name, val: p.Interface()}})
}

// assign puts a value into a field of its type, or of a pointer to it.
func assign(to, v reflect.Value) error {
	if to.IsValid() && to.Kind() == reflect.Pointer && v.Type() == to.Type().Elem() {
		to.Set(reflect.New(v.Type()))
		to = to.Elem()
	}
	if !to.IsValid() || !v.Type().AssignableTo(to.Type()) {
		return fmt.Errorf("%s is no result of this method", v.Type())
	}
	to.Set(v)
	return nil
}
