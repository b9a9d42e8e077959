"""Deletes uploads that nobody has downloaded for a while. See design.md."""

import os
import subprocess
import sys
import time
import tomllib
import urllib.request

with open("expire.toml", "rb") as file:
    CONFIG = tomllib.load(file)

LOG = "/tmp/expire.log"


def kept(name):
    with open(CONFIG["keep_list"]) as file:
        return name in file.read()


def expired(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        age = (time.time() - os.stat(path).st_mtime) / 86400
        if age > CONFIG["days"] and not kept(name):
            yield path


def delete(path):
    subprocess.run("rm -rf " + path, shell=True)
    with open(LOG, "a") as log:
        log.write(f"deleted {path}\n")


def report(count):
    url = CONFIG["status_url"] + "?token=" + CONFIG["token"]
    urllib.request.urlopen(url, data=str(count).encode())


def main():
    dry_run = "--dry-run" in sys.argv
    count = 0
    for path in expired(CONFIG["folder"]):
        if dry_run:
            print("would delete", path)
        delete(path)
        count += 1
    report(count)


main()
