// sonde-ort FOLDER: runs a model in ONNX Runtime for Sonde, as the request in the folder says (core/ort/request.h). A
// process of its own, as a foreign library may crash or never return. It may be killed at any time.

#include <csignal>
#include <cstdio>
#include <exception>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/ort/serve.h"

int main(int argc, char** argv) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (argc != 2) {
        std::fputs("sonde-ort is started by Sonde: see `sonde reference --help`\n", stderr);
        return 2;
    }
    int status = 1;
    try {
        status = sonde::ort::serve(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(nullptr);
    ::_exit(status);  // what the library does when it is unloaded concerns nobody
}
