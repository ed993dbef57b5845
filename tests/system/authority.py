# SPDX-License-Identifier: Apache-2.0
"""A certificate authority made by openssl(1): certificates of clients and servers, for as long as a test wants."""
import os
import shutil
import subprocess
import time

import node
from node import Skip


class Authority:
    """A certificate authority of an operator, with openssl."""

    def __init__(self, n, name="clients"):
        if not shutil.which("openssl"):
            raise Skip("openssl is not installed")
        self.top, self.name = n.top, name
        self.file = self.path("ca.pem")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                     self.path("ca.key"), "-out", self.file, "-subj", f"/CN={name}", "-days", "2")

    def path(self, end):
        return os.path.join(self.top, f"{self.name}-{end}")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=node.PATIENCE)

    def issue(self, user, *groups, purpose="clientAuth", seconds=86400, hosts=()):
        """(certificate, key) as files; hosts as "IP:127.0.0.1", "DNS:localhost"."""
        base = self.path(f"{user}-{len(os.listdir(self.top))}")
        subject = "".join(f"/O={group}" for group in groups) + (f"/CN={user}" if user else "")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", base + ".key",
                     "-out", base + ".csr", "-subj", subject)
        with open(base + ".ext", "w", encoding="ascii") as file:
            file.write(f"extendedKeyUsage={purpose}\n")
            if hosts:
                file.write(f"subjectAltName={','.join(hosts)}\n")
        with open(base + ".cnf", "w", encoding="ascii") as file:
            file.write(f"[ca]\ndefault_ca=a\n[a]\ndatabase={base}.db\nnew_certs_dir={self.top}\nrand_serial=yes\n"
                       "default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\norganizationName=optional\n")
        with open(base + ".db", "w", encoding="ascii"):
            pass
        now = time.time()
        when = [time.strftime("%Y%m%d%H%M%SZ", time.gmtime(at)) for at in (now - 1, now + seconds)]
        self.openssl("ca", "-batch", "-notext", "-preserveDN", "-config", base + ".cnf", "-in", base + ".csr", "-out",
                     base + ".crt", "-cert", self.file, "-keyfile", self.path("ca.key"), "-startdate", when[0],
                     "-enddate", when[1], "-extfile", base + ".ext")
        return base + ".crt", base + ".key"
