#pragma once

#include <cstdint>
#include <vector>

namespace sonde::io::script {

class EagerRun;
class ModuleCall;
class ModuleState;
class Region;
class SourceFrame;
struct ScriptValue;

/// What goes on in the scripts of this thread. Each pointer is the innermost of its kind, null outside of any; who
/// makes one puts back what was there before.
struct RunState {
    Region* region = nullptr;
    ModuleState* modules = nullptr;
    ModuleCall* call = nullptr;
    SourceFrame* frame = nullptr;
    EagerRun* eager = nullptr;
    bool* changedObjects = nullptr;  ///< set by a change of a list or object that a module holds
    bool objectsPass = false;        ///< see ObjectsPass
    int depth = 0;                   ///< of calls of functions
    std::int64_t statements = 0;     ///< since the outermost call began
    std::uint64_t serial = 0;        ///< see nextSerial()
    std::uint64_t writes = 0;        ///< see writeCount()
    int versions = 0;                ///< see nextVersion()
    int letGo = 0;                   ///< see Parts
    std::vector<ScriptValue>* letGoLater = nullptr;
};

/// Of the calling thread. Not passed along: between a call of a module and the called module's code are tracers and
/// trace::Module::forward, which know nothing of scripts and take values only.
RunState& runState();

}  // namespace sonde::io::script
