#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

// The modules that tracers are explained with, as small as they can be. They have no settings; x is [2,4] unless it
// says otherwise.

/// x + 1 + 2: three values, two operations.
std::shared_ptr<nn::Module> plusOnePlusTwo(const Settings& settings);
/// relu(linear(x + param)): a parameter of the root. x [3,4].
std::shared_ptr<nn::Module> paramAndLinear(const Settings& settings);
/// Net of two MyBlocks (convolution, normalisation, relu + 1, and a module that does nothing) and one that does
/// nothing. x [1,3,8,8] -> [1,3,8,8].
std::shared_ptr<nn::Module> blocksInNet(const Settings& settings);
/// a(x) + a(x, k=3): one module called with two different structures of arguments.
std::shared_ptr<nn::Module> calledWithTwoForms(const Settings& settings);
/// b0(a) -> (a, [a, a]); b1(a + 1): modules with several results.
std::shared_ptr<nn::Module> severalResults(const Settings& settings);
/// A block with parameter, buffer and plain tensor, reached under three names.
std::shared_ptr<nn::Module> blockWithAlias(const Settings& settings);
/// forward(x, test_flag=False): a default decides what is done. x [1,3,8,8].
std::shared_ptr<nn::Module> flag(const Settings& settings);
/// A module that iterates over its input inside of a Sequential.
std::shared_ptr<nn::Module> iterating(const Settings& settings);
/// head(cf(stem(x))), where cf branches on the sum of its values; a further module is never called.
std::shared_ptr<nn::Module> branching(const Settings& settings);
/// forward(x, mask=None, scale=2.0, *, mode='a').
std::shared_ptr<nn::Module> keywords(const Settings& settings);
/// c = clone(x); c.add_(2); c.add_(5); c + 3.
std::shared_ptr<nn::Module> inPlace(const Settings& settings);
/// z = 2 x; z[0] = 5; z + 1.
std::shared_ptr<nn::Module> itemAssignment(const Settings& settings);
/// c = clone(x); c[:,:2] = 2 c[:,:2]; c + 3.
std::shared_ptr<nn::Module> sliceAssignment(const Settings& settings);
/// x[x != 0] = 2.
std::shared_ptr<nn::Module> maskAssignment(const Settings& settings);
/// 2 x if sum(x) > 0, else -x: both branches are in the graph.
std::shared_ptr<nn::Module> conditional(const Settings& settings);

}  // namespace sonde::zoo
