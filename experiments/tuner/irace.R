suppressMessages(library(irace))
talk <- socketConnection("127.0.0.1", PORT, open = "r+", blocking = TRUE, timeout = 3600)
tell <- function(first, second, third, row) {
  row <- row[!is.na(row)]
  values <- vapply(row, function(v) format(v, digits = 15), "")
  fields <- c(first, second, third, paste(names(row), values, sep = "="))
  writeLines(paste(fields, collapse = "\t"), talk)
}
runner <- function(experiment, scenario) {
  bound <- if (is.null(experiment$bound)) Inf else experiment$bound
  tell(experiment$id.instance, experiment$seed, bound, as.list(experiment$configuration))
  told <- as.numeric(readLines(talk, 1))
  list(cost = told, time = if (is.finite(told)) max(told, 0) else 0)
}
scenario <- list(targetRunner = runner, logFile = "", debugLevel = 0, SETTINGS)
parameters <- readParameters("parameters.txt", digits = scenario$digits)
found <- irace(scenario = checkScenario(scenario), parameters = parameters)
tell("best", nrow(found), 0, as.list(removeConfigurationsMetaData(found[1, , drop = FALSE])))
close(talk)
