#pragma once

#include <cstdio>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/base/result.h"
#include "tests/bench/against_peers/engine.h"

namespace sonde::bench {

/// What a worker is for.
struct WorkerTask {
    std::string way;      ///< Way::name
    std::string model;    ///< an ONNX file
    std::string library;  ///< of ONNX Runtime
    std::size_t threads = 1;
};

/// Runs in one turn, in ms each.
struct Times {
    std::vector<double> wall, processor;
    double peakMb = 0;  ///< of the worker's memory so far
};

/// A process of its own for one way to run one model, so that its peak of memory is its own and no thread pool is in
/// another's way. It waits between its turns.
class Worker {
  public:
    Worker() = default;
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// `program`: this one. Errors: of the model, of the engine.
    base::Result<void> start(const std::string& program, const WorkerTask& task);
    /// One run that is not measured, then `runs` that are.
    base::Result<Times> run(std::size_t runs);
    const std::string& version() const { return m_version; }
    const std::vector<float>& output() const { return m_output; }  ///< at most 4,096 elements

  private:
    base::Result<std::string> ask(const std::string& line);

    pid_t m_process = -1;
    std::FILE* m_stream = nullptr;  ///< both ways
    std::string m_version;
    std::vector<float> m_output;
};

/// The worker's side: answers on standard output until standard input ends. The exit status.
int work(const WorkerTask& task);

}  // namespace sonde::bench
