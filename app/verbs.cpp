#include "app/verb.h"
#ifdef SONDE_WITH_UI
#include "ui/window/application.h"
#endif

namespace sonde::app {

Verb infoVerb();
Verb traceVerb();
Verb runVerb();
Verb checkVerb();
Verb benchVerb();
Verb dumpVerb();
Verb opsVerb();
Verb lessonsVerb();
Verb modelsVerb();
Verb samplesVerb();
Verb passesVerb();
Verb conformanceVerb();
Verb saveVerb();
Verb cutVerb();
Verb problemsVerb();
Verb debugVerb();
Verb loadAndRunVerb();
Verb referenceVerb();
Verb diffVerb();
Verb findingsVerb();
Verb reportVerb();
Verb sweepVerb();
Verb profileVerb();
Verb bisectVerb();
Verb gradientVerb();
Verb precisionVerb();
Verb weightsVerb();
Verb generateVerb();
#ifdef SONDE_WITH_UI
Verb renderVerb();
Verb windowVerb();
#endif

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> all{
        infoVerb(),      traceVerb(),   runVerb(),     checkVerb(),       benchVerb(),     dumpVerb(),
        opsVerb(),       modelsVerb(),  passesVerb(),  conformanceVerb(), saveVerb(),      cutVerb(),
        problemsVerb(),  lessonsVerb(), debugVerb(),   loadAndRunVerb(),  referenceVerb(), bisectVerb(),
        diffVerb(),      sweepVerb(),   profileVerb(), findingsVerb(),    reportVerb(),    gradientVerb(),
        precisionVerb(), weightsVerb(), samplesVerb(), generateVerb(),
#ifdef SONDE_WITH_UI
        renderVerb(),    windowVerb(),
#endif
    };
    return all;
}

WindowOpener windowOpener() {
#ifdef SONDE_WITH_UI
    return window::runApplication;
#else
    return nullptr;
#endif
}

}  // namespace sonde::app
