// A library that throws while it is loaded. Its model has no function, so that it needs nothing of the program that
// loads it.

#include <stdexcept>

#include "core/nn/plugin.h"

[[gnu::used, gnu::section(".note.sonde"), gnu::aligned(4)]] static constexpr sonde::nn::PluginNote kNote{
    .content = {.model = "never", .className = "Never"}};

[[gnu::constructor]] static void whenLoaded() { throw std::runtime_error("no licence"); }
