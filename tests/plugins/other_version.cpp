// A library that says that it was built for another Sonde. None of its code may run: it would end the program.

#include <cstdlib>

#include "core/nn/plugin.h"

[[gnu::used, gnu::section(".note.sonde"), gnu::aligned(4)]] static constexpr sonde::nn::PluginNote kNote{
    .content = {.abi = "Sonde 0.0.1, libstdc++ 5 cxx11=0", .model = "old", .className = "Old"}};

[[gnu::constructor]] static void whenLoaded() { std::abort(); }
