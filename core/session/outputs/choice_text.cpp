// What the command line says of an output.

#include "core/session/outputs/choice.h"
#include "core/session/outputs/forms.h"

namespace sonde::session::outputs {

base::Result<Choice> parseChoice(std::string_view text) {
    Choice choice;
    const std::size_t colon = text.find(':');
    // An output's name may have a '=' or ':' of its own: what is known as a form tells where it ends.
    const auto isForm = [](std::string_view word) { return word == "auto" || findForm(word); };
    std::string_view form = text.substr(0, colon),
                     options = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    for (std::size_t equals = text.find('='); !isForm(form) && equals != std::string_view::npos;
         equals = text.find('=', equals + 1)) {
        const std::string_view rest = text.substr(equals + 1);
        const std::size_t end = rest.find(':');
        if (!isForm(rest.substr(0, end))) continue;
        choice.output = std::string(text.substr(0, equals));
        form = rest.substr(0, end);
        options = end == std::string_view::npos ? "" : rest.substr(end + 1);
    }
    if (!isForm(form)) {
        std::string all = "auto";
        for (const Form& each : forms()) all += ", " + std::string(each.id);
        return base::usageError("there is no form '" + std::string(form.substr(0, 80)) + "' of outputs", {},
                                "forms are " + all);
    }
    if (form != "auto") choice.form = std::string(form);
    SONDE_TRY(parseOptions(options, choice));
    return choice;
}

}  // namespace sonde::session::outputs
