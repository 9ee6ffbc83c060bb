#include "core/passes/all_passes.h"

namespace sonde::passes {

const std::vector<Pass>& passes() {
    static const std::vector<Pass> table{
        {"attr-to-constant", "Attributes to constants", "reads of weights and buffers become constants of the graph", attrToConstant},
        {"backward-fold-scale", "Fold scales backward",
         "a scalar factor behind a convolution moves into the convolution's weight and bias", backwardFoldScale,
         {"fuse-conv-bn", "norm-elem-wise"}},
        {"fix-input-shape", "Fix shapes", "questions for a shape that is known become constants", fixInputShape},
        {"fold-constant", "Fold constants", "operations on constants alone are computed once, now", foldConstant, {"attr-to-constant"},
         false, true, "FlodConstant"},
        {"fuse-add-mul", "Fuse additions and multiplications", "scalars that are added or multiplied one after the other become one",
         fuseAddMul, {"norm-elem-wise"}, false},
        {"fuse-conv-bn", "Fuse convolution and batch norm", "a batch norm behind a convolution moves into its weight and bias", fuseConvBn},
        {"merge-duplicates", "Merge duplicates", "equal operations on equal inputs are computed once", mergeDuplicates},
        {"norm-elem-wise", "Normalise arithmetic", "subtractions and divisions by constants become additions and multiplications", normElemWise},
        {"remove-dead-code", "Remove dead code", "operations that no output needs are taken out", removeDeadCode},
        {"remove-identity", "Remove identities", "operations that give their input unchanged, dropout among them, are taken out", removeIdentity},
        {"remove-inplace", "Remove in-place operations", "every write to a tensor becomes a new value that later uses read", removeInplacePass,
         {}, true, false},
        {"remove-unnecessary-slices", "Remove unnecessary slices", "slices that take everything, and copies over a whole tensor, are taken out",
         removeUnnecessarySlicesPass, {}, true, false},
        {"simplify-arithmetic", "Simplify arithmetic", "x / x becomes 1, log(exp(x)) x, and logarithms of sums of exponentials one stable operation",
         simplifyArithmetic, {"merge-duplicates"}},
    };
    return table;
}

}  // namespace sonde::passes
