#include "tests/support/test_program.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

namespace sonde::tests {

namespace {

std::map<std::string, RunTest>& entries() {
    static std::map<std::string, RunTest> all;
    return all;
}

}  // namespace

Entry::Entry(const char* sourceFile, RunTest run) {
    entries().emplace(std::filesystem::path(sourceFile).stem().string(), run);
}

}  // namespace sonde::tests

/// Started by a link that has a test's name: that test. Else the first argument is the name.
int main(int argc, char** argv) {
    using sonde::tests::entries;
    const auto named = entries().find(std::filesystem::path(argv[0]).filename().string());
    if (named != entries().end()) return named->second(argc, argv);
    const auto asked = argc > 1 ? entries().find(argv[1]) : entries().end();
    if (asked != entries().end()) return asked->second(argc - 1, argv + 1);
    std::fprintf(stderr, "usage: %s TEST [ARG…], with one of\n", argv[0]);
    for (const auto& [name, run] : entries()) std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
}
