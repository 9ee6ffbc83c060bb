#include <cstdio>

#include "core/base/error.h"

int main() {
    const sonde::base::Error error = sonde::base::unreadable("no such model", "somewhere");
    std::puts(error.commandLineText().c_str());
    return error.exitStatus() == 3 ? 0 : 1;
}
