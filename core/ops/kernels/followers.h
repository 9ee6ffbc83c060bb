#pragma once

#include "core/ops/kernels/epilogue.h"

// Earlier names of a fused epilogue.

namespace sonde::ops::kernels {

using Follower = EpilogueOp;
using Followers = Epilogue;
using FollowerCall = EpilogueCall;
using MakeFollower = MakeEpilogueOp;

inline void addFollower(std::string_view domain, std::string_view name, MakeFollower make) {
    addEpilogueOp(domain, name, std::move(make));
}
inline void addLeader(std::string_view domain, std::string_view name) { addEpilogueKernel(domain, name); }

}  // namespace sonde::ops::kernels
