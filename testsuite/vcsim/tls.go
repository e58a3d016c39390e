// SPDX-License-Identifier: GPL-2.0-or-later
// tls.go: a CA of its own, and server certificates that can be renewed.

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

type authority struct {
	mu   sync.Mutex
	dir  string
	cert *tls.Certificate
}

// renew makes a new CA (written to DIR/ca.pem) and a server certificate, with a
// flaw: "expired", "early" (not yet valid), "otherName", "otherKey" (of a CA of
// the same name, which isn't written); "": none.
func (a *authority) renew(flaw string) error {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	serial := big.NewInt(now.UnixNano())
	ca := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "vcsim CA"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(365 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return err
	}
	// With the key's identifier, which strict clients look for in the leaf.
	if ca, err = x509.ParseCertificate(caDER); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	leaf := &x509.Certificate{SerialNumber: serial.Add(serial, big.NewInt(1)), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	switch flaw {
	case "":
	case "expired":
		leaf.NotBefore, leaf.NotAfter = now.Add(-48*time.Hour), now.Add(-24*time.Hour)
	case "early":
		leaf.NotBefore = now.Add(24 * time.Hour)
	case "otherName":
		leaf.DNSNames, leaf.IPAddresses = []string{"vc.example.org"}, nil
	case "otherKey":
		if caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return err
		}
		ca.PublicKey = nil
	default:
		return fmt.Errorf("how: a certificate that is %q is not known", flaw)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return err
	}
	out := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	file := filepath.Join(a.dir, "ca.pem")
	if err := os.WriteFile(file+".tmp", out, 0o644); err != nil {
		return err
	}
	if err := os.Rename(file+".tmp", file); err != nil {
		return err
	}
	a.mu.Lock()
	a.cert = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	a.mu.Unlock()
	return nil
}

func (a *authority) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cert, nil
}
