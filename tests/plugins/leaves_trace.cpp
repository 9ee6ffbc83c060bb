// A library that leaves a file behind as soon as it is loaded: "constructor ran", at the path in SONDE_TEST_TRACE. Its
// model has no function, so that it needs nothing of the program that loads it.

#include <cstdio>
#include <cstdlib>

#include "core/nn/plugin.h"

[[gnu::used, gnu::section(".note.sonde"), gnu::aligned(4)]] static constexpr sonde::nn::PluginNote kNote{
    .content = {.model = "traced", .className = "Traced"}};

[[gnu::constructor]] static void whenLoaded() {
    const char* const path = std::getenv("SONDE_TEST_TRACE");
    std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    std::fputs("constructor ran", file);
    std::fclose(file);
}
