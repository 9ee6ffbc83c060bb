#include "core/passes/all_passes.h"

namespace sonde::passes {

const std::vector<Pass>& passes() {
    // clang-format off
    static const std::vector<Pass> table{
        {"attr-to-constant", "Attributes to constants", "turn reads of weights and buffers into constants of the graph", attrToConstant},
        {"backward-fold-scale", "Fold scales backward",
         "fold a scalar factor after a convolution into its weight and bias", backwardFoldScale,
         {"fuse-conv-bn", "norm-elem-wise"}},
        {"fix-input-shape", "Fix shapes", "fold shape queries: known shapes become constants", fixInputShape},
        {"fold-constant", "Fold constants", "compute operations on constants once", foldConstant, {"attr-to-constant"},
         false, true, "FlodConstant"},
        {"fuse-add-mul", "Fuse additions and multiplications", "combine consecutive scalar additions and multiplications",
         fuseAddMul, {"norm-elem-wise"}, false},
        {"fuse-conv-bn", "Fuse convolution and batch norm", "fold a batch norm after a convolution into its weight and bias", fuseConvBn},
        {"fuse-quantized", "Fuse quantised operators",
         "compute operators between dequantised and quantised values on the integers", fuseQuantized, {}, true, false},
        {"merge-duplicates", "Merge duplicates", "compute equal operations on equal inputs once", mergeDuplicates},
        {"norm-elem-wise", "Normalise arithmetic", "turn subtractions and divisions by constants into additions and multiplications", normElemWise},
        {"remove-dead-code", "Remove dead code", "remove operations that no output depends on", removeDeadCode},
        {"remove-identity", "Remove identities", "remove operations that return their input unchanged, such as dropout", removeIdentity},
        {"remove-inplace", "Remove in-place operations", "turn every write to a tensor into a new value that later uses read", removeInplacePass,
         {}, true, false},
        {"remove-unnecessary-slices", "Remove unnecessary slices", "remove slices of a whole tensor, and copies over one",
         removeUnnecessarySlicesPass, {}, true, false},
        {"simplify-arithmetic", "Simplify arithmetic", "replace x / x by 1, log(exp(x)) by x, and log-sum-exp by one stable operation",
         simplifyArithmetic, {"merge-duplicates"}},
    };
    // clang-format on
    return table;
}

}  // namespace sonde::passes
