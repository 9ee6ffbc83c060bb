#include "app/verb.h"

namespace sonde::app {

Verb traceVerb();
Verb runVerb();
Verb checkVerb();
Verb benchVerb();
Verb opsVerb();
Verb modelsVerb();
Verb conformanceVerb();

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> all{
        traceVerb(), runVerb(), checkVerb(), benchVerb(), opsVerb(), modelsVerb(), conformanceVerb(),
    };
    return all;
}

WindowOpener windowOpener() { return nullptr; }

}  // namespace sonde::app
