#include "app/verb.h"

namespace sonde::app {

Verb traceVerb();
Verb runVerb();
Verb checkVerb();
Verb benchVerb();
Verb opsVerb();
Verb modelsVerb();
Verb conformanceVerb();
#ifdef SONDE_WITH_UI
Verb renderVerb();
#endif

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> all{
        traceVerb(), runVerb(), checkVerb(), benchVerb(), opsVerb(), modelsVerb(), conformanceVerb(),
#ifdef SONDE_WITH_UI
        renderVerb(),
#endif
    };
    return all;
}

WindowOpener windowOpener() { return nullptr; }

}  // namespace sonde::app
